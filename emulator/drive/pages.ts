import { invalidParameter } from './drive-error.ts'

/** One page of a list, and the token of the next. */
export function pageOf<Entry>(
  list: readonly Entry[],
  query: URLSearchParams,
  { usual, longest }: { usual: number; longest: number },
): { page: Entry[]; nextPageToken: string | undefined } {
  const size = pageSize(query.get('pageSize'), usual, longest)
  const start = pageStart(query.get('pageToken'))
  const end = start + size
  const nextPageToken = end < list.length ? Buffer.from(`page:${end}`).toString('base64url') : undefined
  return { page: list.slice(start, end), nextPageToken }
}

export function pageSize(text: string | null, usual: number, longest: number): number {
  if (text === null) return usual
  const size = Number(text)
  if (!Number.isInteger(size) || size < 1 || size > longest) {
    const message = `Invalid value '${text}'. Values must be within the range: [1, ${longest}]`
    throw invalidParameter('pageSize', message)
  }
  return size
}

function pageStart(token: string | null): number {
  if (!token) return 0
  const match = /^page:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())
  if (!match) throw invalidParameter('pageToken')
  return Number(match[1])
}
