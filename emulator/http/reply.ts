import { encodeJson } from './encode-json.ts'

/** What goes back to the client, before a fault may spoil its delivery. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

/** A reply whose body is still to be encoded: large ones take their time, and other calls go on meanwhile. */
export interface JsonAnswer {
  status: number
  headers: Record<string, string>
  json: unknown
  pretty: boolean
}

export async function replyOf(answer: Reply | JsonAnswer): Promise<Reply> {
  if (!('json' in answer)) return answer
  const { status, headers, json, pretty } = answer
  return { status, headers, body: await encodeJson(json, pretty) }
}

/** Headers of every recorded answer of Google's API front end. Note what is absent: ETag, Retry-After. */
const apiHeaders = {
  'Content-Type': 'application/json; charset=UTF-8',
  Vary: 'Origin, X-Origin, Referer',
  Server: 'ESF',
  'X-XSS-Protection': '0',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Content-Type-Options': 'nosniff',
}

const neverCache = {
  'Cache-Control': 'no-cache, no-store, max-age=0, must-revalidate',
  Pragma: 'no-cache',
  Expires: 'Mon, 01 Jan 1990 00:00:00 GMT',
}

export const sheetsHeaders: Record<string, string> = { ...apiHeaders, 'Cache-Control': 'private' }
export const driveHeaders: Record<string, string> = { ...apiHeaders, ...neverCache }
export const oauthHeaders: Record<string, string> = {
  ...apiHeaders,
  ...neverCache,
  'Content-Type': 'application/json; charset=utf-8',
}

export function jsonReply(
  status: number,
  body: unknown,
  headers: Record<string, string>,
  pretty = true,
): Reply {
  const text = body === undefined ? '' : `${JSON.stringify(body, null, pretty ? 2 : undefined)}\n`
  return { status, headers, body: text }
}

export function htmlReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'text/html; charset=UTF-8', ...headers }, body }
}

export function redirectReply(location: string): Reply {
  return { status: 302, headers: { ...neverCache, Location: location }, body: '' }
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
}

/** The page of Google's front end for a path that no service answers. */
export function frontEndNotFound(path: string): Reply {
  return frontEndError(
    404,
    'Not Found',
    `The requested URL <code>${escapeHtml(path)}</code> was not found on this server.`,
  )
}

export function frontEndError(status: number, title: string, sentence: string): Reply {
  return htmlReply(
    status,
    `<!DOCTYPE html>
<html lang=en>
  <meta charset=utf-8>
  <meta name=viewport content="initial-scale=1, minimum-scale=1, width=device-width">
  <title>Error ${status} (${title})!!1</title>
  <p><b>${status}.</b> <ins>That’s an error.</ins>
  <p>${sentence} <ins>That’s all we know.</ins>
`,
  )
}
