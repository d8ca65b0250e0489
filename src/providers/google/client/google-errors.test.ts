import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf, plainText, rationExceeded, readGoogleError } from './google-errors.ts'

function error(code: number, status: string, message: string, details?: unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ error: { code, message, status, ...(details ? { details } : {}) } }))
}

const info = (reason: string, metadata: object) => [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata },
]

const failed = (status: number, body: Buffer, scope: 'drive.file' | 'spreadsheets' = 'drive.file') =>
  failureOf(status, readGoogleError(body), { by: 'owner', scope })

test("each of Google's refusals says what the owner can do, and which of them pass", () => {
  const cases: [number, Buffer, RegExp, RegExp, boolean][] = [
    [
      404,
      error(404, 'NOT_FOUND', 'Requested entity was not found.'),
      /not found/,
      /not chosen.*“Select spreadsheets in Google”/,
      false,
    ],
    [
      403,
      error(403, 'PERMISSION_DENIED', 'The caller does not have permission'),
      /can't open/,
      /Share it/,
      false,
    ],
    [
      400,
      error(
        400,
        'FAILED_PRECONDITION',
        'This operation is not supported for this document. The document must not be an Office file.',
      ),
      /Excel workbook/,
      /Save as Google Sheets/,
      false,
    ],
    [400, error(400, 'INVALID_ARGUMENT', 'No grid with id: 7'), /tab no longer exists/, /deleted/, false],
    [
      400,
      error(400, 'INVALID_ARGUMENT', 'Unable to parse range: Gone!A1'),
      /tab no longer exists/,
      /deleted/,
      false,
    ],
    [
      400,
      error(
        400,
        'INVALID_ARGUMENT',
        'Invalid requests[0].updateCells: You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
      ),
      /protected/,
      /remove the protection/,
      false,
    ],
    [
      400,
      error(
        400,
        'INVALID_ARGUMENT',
        'This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
      ),
      /full/,
      /ten million/,
      false,
    ],
    [400, error(400, 'INVALID_ARGUMENT', 'Something new'), /refused/, /Something new/, false],
    [429, error(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded'), /quota/, /minute/, true],
    [429, Buffer.from('<html>Sorry…</html>'), /quota/, /minute/, true],
    [500, error(500, 'INTERNAL', 'Internal error encountered.'), /not available/, /^$/, true],
    [503, Buffer.from('<html>'), /not available/, /^$/, true],
    [404, Buffer.from('<html><title>Error 404</title>'), /could not be read/, /^$/, true],
    [403, Buffer.from('{"error":"x"}'), /could not be read/, /^$/, true],
  ]
  for (const [status, body, message, details, isPassing] of cases) {
    const failure = failed(status, body)
    assert.match(failure.message, message)
    assert.match(failure.facts.details ?? '', details)
    assert.equal(failure.facts.isPassing ?? false, isPassing, failure.message)
  }
  const withAllScopes = failed(404, error(404, 'NOT_FOUND', 'x'), 'spreadsheets')
  assert.doesNotMatch(withAllScopes.facts.details ?? '', /chosen/)
})

test('an API that is switched off is the operator’s to mend, with the page to do it', () => {
  const url = 'https://console.developers.google.com/apis/api/sheets.googleapis.com/overview?project=12'
  const body = error(403, 'PERMISSION_DENIED', 'disabled', info('SERVICE_DISABLED', { activationUrl: url }))
  assert.ok(failed(403, body).facts.details?.includes(url))
  const forged = error(
    403,
    'PERMISSION_DENIED',
    'x',
    info('SERVICE_DISABLED', { activationUrl: 'https://evil.example/' }),
  )
  assert.doesNotMatch(failed(403, forged).facts.details ?? '', /evil/)
})

test('whose ration it is that Google says is used up', () => {
  const of = (quota_limit: string) =>
    rationExceeded(
      429,
      readGoogleError(error(429, 'RESOURCE_EXHAUSTED', 'x', info('RATE_LIMIT_EXCEEDED', { quota_limit }))),
    )
  assert.equal(of('ReadRequestsPerMinutePerUser'), 'user')
  assert.equal(of('ReadRequestsPerMinutePerProject'), 'project')
  const drive = { error: { code: 403, message: 'x', errors: [{ reason: 'userRateLimitExceeded' }] } }
  assert.equal(rationExceeded(403, readGoogleError(Buffer.from(JSON.stringify(drive)))), 'user')
  assert.equal(rationExceeded(403, readGoogleError(error(403, 'PERMISSION_DENIED', 'x'))), null)
})

test("Google's words are quoted short, without markup and without tokens", () => {
  const token = `ya29.${'a'.repeat(30)}`
  assert.equal(plainText(`bad ${token} here`), 'bad [secret] here')
  assert.equal(plainText('<b>bold</b>'), '(no words)')
  assert.equal(plainText('a\n\t\u0000 b'), 'a b')
  assert.ok(plainText('x'.repeat(1_000_000)).length <= 201)
})

test('no body is too odd to be read', () => {
  for (const body of ['', 'null', '[]', '{}', '{"error":null}', '{"error":{"message":5}}']) {
    assert.equal(readGoogleError(Buffer.from(body)), null)
  }
  const odd = readGoogleError(Buffer.from('{"error":{"message":"x","details":7,"errors":{},"status":[]}}'))
  assert.deepEqual(odd, { status: '', message: 'x', reason: '', quotaLimit: '', activationUrl: '' })
})
