/** A request target, taken apart without ever throwing. */
export interface Target {
  /** The path between its slashes, percent-decoded; null when the encoding is broken. */
  segments: string[] | null
  /** What follows the `?`, still encoded; null when there is none. */
  query: string | null
}

const absoluteForm = /^https?:\/\/[^/?#]*/i

/** A proxy may send the absolute form (RFC 9112, 3.2.2); its host is not ours to judge, and its path may be empty. */
export function withoutHost(raw: string): string {
  if (raw.startsWith('/') || !absoluteForm.test(raw)) return raw
  const rest = raw.replace(absoluteForm, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Not `new URL`: that lets `//host/…` replace the host and throws on what a stranger may well send. */
export function parseTarget(raw: string): Target {
  const target = withoutHost(raw)
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? null : target.slice(mark + 1)
  if (!path.startsWith('/')) return { segments: null, query }
  const segments = path.slice(1).split('/')
  if (!path.includes('%')) return { segments, query }
  const decoded = segments.map(decodeOrNull)
  return { segments: decoded.every((segment) => segment !== null) ? decoded : null, query }
}

export function decodeOrNull(text: string): string | null {
  // Of a query of 16 KB, thousands of names and values come through here.
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
