import type { GoogleAnswer } from '../google-api.ts'

/** Drive's older error envelope: a list of errors and no status word. */
export class DriveError extends Error {
  readonly code: number
  readonly reason: string
  readonly place: { location?: string; locationType?: string }

  constructor(code: number, reason: string, message: string, location?: string) {
    super(message)
    this.code = code
    this.reason = reason
    this.place = location === undefined ? {} : { location, locationType: 'parameter' }
  }
}

export function fileNotFound(id: string): DriveError {
  return new DriveError(404, 'notFound', `File not found: ${id}.`, 'fileId')
}

export function invalidParameter(name: string, message = 'Invalid Value'): DriveError {
  return new DriveError(400, 'invalid', message, name)
}

export function driveErrorAnswer(error: DriveError): GoogleAnswer {
  const { code, message, reason, place } = error
  return {
    status: code,
    body: { error: { code, message, errors: [{ message, domain: 'global', reason, ...place }] } },
  }
}
