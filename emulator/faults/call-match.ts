/** What faults and scheduled edits are matched on, and what the log keeps. */
export interface CallFacts {
  method: string
  path: string
  /** `spreadsheets.batchUpdate`, `values.get`, `files.list`; empty for what is no method of Sheets or Drive. */
  name: string
  service: 'sheets' | 'drive' | 'oauth' | 'none'
  /** The ration a call counts against; Drive and OAuth count against none. */
  kind: 'read' | 'write' | 'other'
  user: string | undefined
}

export interface CallMatch {
  /** Google's name of the method. */
  name?: string | undefined
  method?: string | undefined
  /** Matched against the path as sent and decoded, with and without `METHOD ` before it. */
  path?: RegExp | undefined
  kind?: CallFacts['kind'] | undefined
  service?: CallFacts['service'] | undefined
  user?: string | undefined
}

/** Without a path or a service only Sheets and Drive are meant: a fault for "any call" should not hit the sign-in. */
export function matches(match: CallMatch, call: CallFacts): boolean {
  const apiCall = call.service === 'sheets' || call.service === 'drive'
  if (!apiCall && match.path === undefined && match.service === undefined) return false
  return (
    (match.name === undefined || match.name === call.name) &&
    (match.method === undefined || match.method.toUpperCase() === call.method) &&
    (match.path === undefined || spellings(call).some((spelling) => match.path?.test(spelling))) &&
    (match.kind === undefined || match.kind === call.kind) &&
    (match.service === undefined || match.service === call.service) &&
    (match.user === undefined || match.user === call.user)
  )
}

function spellings({ method, path }: CallFacts): string[] {
  return [path, decoded(path)].flatMap((spelling) => [spelling, `${method} ${spelling}`])
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
