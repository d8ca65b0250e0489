import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ErrorCode, errorBody, errorTable, Refusal } from './errors.ts'

test('docs/errors.md says of every code what the table says, and knows no other', () => {
  const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| (.+?) \| .+? \| (.*?) ?\|$/gm)].map(
    ([, code, status, message, nested]) => ({ code, status: Number(status), message, nested }),
  )
  const expected = Object.entries(errorTable).map(([code, entry]) => {
    const own: { code?: string; message?: string } | null = 'nested' in entry ? entry.nested : null
    const nested = own ? `\`${own.code ?? code}\`: ${own.message ?? entry.message}` : ''
    return { code, status: entry.status, message: entry.message, nested }
  })
  assert.deepEqual(documented, expected)
})

test('the flat form', () => {
  assert.deepEqual(errorBody(new Refusal('sheet_paused'), 'flat'), {
    error: 'Sheet is paused',
    code: 'sheet_paused',
  })
  const failed = new Refusal('google_api_error', {
    fill: { action: 'read from', reason: 'it is gone' },
    details: 'more',
  })
  assert.deepEqual(errorBody(failed, 'flat'), {
    error: 'Failed to read from sheet: it is gone',
    code: 'google_api_error',
    details: 'more',
  })
})

test('the nested form, with codes and messages of its own where it has them', () => {
  const bodies: [ErrorCode, object][] = [
    ['api_key_required', { error: { code: 'unauthorized', message: 'API key is required' } }],
    ['invalid_api_key', { error: { code: 'forbidden', message: 'Invalid API key' } }],
    ['sheet_paused', { error: { code: 'sheet_paused', message: 'Sheet is paused' } }],
  ]
  for (const [code, body] of bodies) assert.deepEqual(errorBody(new Refusal(code), 'nested'), body)
  const limited = new Refusal('rate_limited', { fill: { seconds: '5' }, retryAfterSeconds: 5 })
  assert.deepEqual(errorBody(limited, 'nested'), {
    error: {
      code: 'rate_limited',
      message: 'Too many requests. Please retry after 5 seconds.',
      retry_after: 5,
    },
  })
  const waiting = new Refusal('service_unavailable', { retryAfterSeconds: 5, details: 'soon' })
  assert.deepEqual(errorBody(waiting, 'nested'), {
    error: {
      code: 'service_unavailable',
      message: 'The service is temporarily unavailable. Please retry in a moment.',
      details: 'soon',
    },
  })
})

test('the published codes keep their status and message', () => {
  const spec: [ErrorCode, number, string][] = [
    ['api_key_required', 401, 'API key required.'],
    ['invalid_api_key', 403, 'Invalid API key'],
    ['account_not_found', 404, 'Account not found'],
    ['sheet_not_found', 404, 'Sheet not found'],
    ['sheet_paused', 503, 'Sheet is paused'],
    ['invalid_body', 400, 'Invalid request body. Expected a JSON object or array of objects.'],
    [
      'invalid_row_number',
      400,
      'Invalid row number. Must be a positive integer greater than the header row.',
    ],
    ['missing_headers', 400, 'Could not determine sheet headers. Ensure the sheet has a header row.'],
    [
      'write_api_not_enabled',
      403,
      'Write API is not enabled for your plan. Please upgrade to Pro or higher.',
    ],
    ['internal_error', 500, 'An unexpected error occurred'],
  ]
  for (const [code, status, message] of spec) {
    assert.deepEqual(
      { status: errorTable[code].status, message: errorTable[code].message },
      { status, message },
    )
  }
})
