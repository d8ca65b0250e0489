/** A message of JSON-RPC; the SDK judges whether it is a good one. */
export type Message = Record<string, unknown> & { id?: string | number; method: string }
