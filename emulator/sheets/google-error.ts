import type { GoogleAnswer } from '../google-api.ts'

/** A refusal in Google's words; whoever runs the call turns it into the error body. */
export class GoogleError extends Error {
  readonly code: number
  readonly status: string
  readonly details: unknown[] | undefined

  constructor(code: number, status: string, message: string, details?: unknown[]) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
  }
}

export function invalidArgument(message: string): GoogleError {
  return new GoogleError(400, 'INVALID_ARGUMENT', message)
}

/** Google's JSON parser answers with the path of each field it could not read. */
export function invalidFields(
  violations: { field: string; description: string }[],
  message?: string,
): GoogleError {
  return new GoogleError(
    400,
    'INVALID_ARGUMENT',
    message ?? violations.map((violation) => violation.description).join('\n'),
    [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }],
  )
}

export function entityNotFound(): GoogleError {
  return new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.')
}

export function permissionDenied(): GoogleError {
  return new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission')
}

/** Inside a batch Google names the request before the reason. */
export function inContext(prefix: string, error: unknown): unknown {
  if (!(error instanceof GoogleError) || error.code !== 400 || error.details) return error
  return new GoogleError(error.code, error.status, `${prefix}: ${error.message}`)
}

export function sheetsErrorAnswer(error: GoogleError): GoogleAnswer {
  const { code, message, status, details } = error
  return { status: code, body: { error: { code, message, status, ...(details && { details }) } } }
}
