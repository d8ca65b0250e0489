import { isObject, type Spreadsheet } from '../model.ts'

/** What a single request of a batchUpdate may use; it changes the draft and gives its reply. */
export interface RequestContext {
  draft: Spreadsheet
  user: string
  /** A random id that is free as a sheet id. */
  newId(): number
}

export type RequestHandler = (
  context: RequestContext,
  request: Record<string, unknown>,
) => Record<string, unknown>

export function objectIn(request: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = request[name]
  return isObject(value) ? value : {}
}
