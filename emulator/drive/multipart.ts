import { parseJson } from '../http/request-body.ts'
import { DriveError } from './drive-error.ts'

export interface Media {
  mimeType: string
  text: string
}

/** The two parts of `multipart/related`: what the file is to be called, as JSON, and what is in it. */
export function readMultipart({ mimeType, text }: Media): { metadata: unknown; media: Media } {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(mimeType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw malformed()
  // The line break before a boundary belongs to the boundary, and the first one may have none.
  const [, ...pieces] = `\r\n${text}`.split(`\r\n--${boundary}`)
  const end = pieces.pop()
  const [first, second, ...others] = pieces.map(readPart)
  if (!end?.startsWith('--') || !first || !second || others.length > 0) throw malformed()
  const metadata = parseJson(first.text)
  if (!metadata) throw malformed()
  return { metadata: metadata.value, media: second }
}

function readPart(piece: string): Media {
  const [, head = '', text] = /^[ \t]*((?:\r\n[^\r\n]+)*)\r\n\r\n(.*)$/s.exec(piece) ?? []
  if (text === undefined) throw malformed()
  const mimeType = /\r\ncontent-type:[ \t]*([^\r\n]+)/i.exec(head)?.[1] ?? 'application/octet-stream'
  return { mimeType, text }
}

function malformed(): DriveError {
  return new DriveError(400, 'badRequest', 'Malformed multipart body.')
}
