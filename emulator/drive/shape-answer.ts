import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { applyMask, parseMask } from '../sheets/fields-mask.ts'
import { DriveError } from './drive-error.ts'

/** Drive answers with a few fields unless `fields` asks for others. */
export function shaped(call: GoogleCall, body: Record<string, unknown>, usual: string): GoogleAnswer {
  const fields = call.query.get('fields') || usual
  const mask = parseMask(fields)
  if (!mask) throw new DriveError(400, 'invalidParameter', `Invalid field selection ${fields}`, 'fields')
  if (mask !== 'all') {
    const unknown = [...mask.keys()].find((name) => name !== '*' && !KNOWN.test(name))
    if (unknown) throw new DriveError(400, 'invalidParameter', `Invalid field selection ${unknown}`, 'fields')
  }
  return { status: 200, body: applyMask(body, mask) }
}

/** Some methods have no fields of their own accord. */
export function shapedAsAsked(call: GoogleCall, body: Record<string, unknown>): GoogleAnswer {
  if (!call.query.get('fields')) {
    const message = "The 'fields' parameter is required for this method."
    throw new DriveError(400, 'required', message, 'fields')
  }
  return shaped(call, body, '*')
}

const KNOWN = /^[a-z][A-Za-z0-9]*$/
