import type { Soon } from '../soon.ts'
import { changeJson, changeParts } from './change-json.ts'
import { piecesOf } from './long-text.ts'
import { everyChange, type ReadingChanges, type ToldChange } from './reading-changes.ts'

const changesTogether = 500
/** What is made ahead of its reader. A single change may be longer. */
const pieceCharacters = 64 * 1024

/**
 * All that is kept of a sheet's log, as JSON texts of a few changes each, or the pieces of a very long one, read while it is sent and
 * with a turn for each page. What is forgotten meanwhile is left out, and so is what a new log has.
 */
export async function* wholeLog(
  sheetId: string,
  changes: Pick<ReadingChanges, 'positionOf' | 'after'>,
  nextTurn: () => Soon<void>,
): AsyncGenerator<string[] | AsyncIterable<Uint8Array>> {
  const position = await changes.positionOf(sheetId)
  if (position?.epoch == null) return
  const { epoch } = position
  for (let place = { epoch, seq: position.floor }; ; ) {
    await nextTurn()
    const read = await changes.after(sheetId, place, { ...everyChange, limit: changesTogether })
    yield* inPieces(read.changes, nextTurn)
    const now = read.over === 'expired' ? await changes.positionOf(sheetId) : null
    if (now?.epoch === epoch && now.floor > place.seq) place = { epoch, seq: now.floor }
    else if (read.over || read.changes.length === 0) return
    else place = { epoch, seq: read.next.seq }
  }
}

function* inPieces(
  changes: Iterable<ToldChange>,
  nextTurn: () => Soon<void>,
): Generator<string[] | AsyncIterable<Uint8Array>> {
  let piece: string[] = []
  let characters = 0
  for (const told of changes) {
    if (told.long) {
      if (piece.length > 0) yield piece
      piece = []
      characters = 0
      yield piecesOf(changeParts(told), nextTurn)
      continue
    }
    const text = changeJson(told)
    piece.push(text)
    characters += text.length
    if (characters < pieceCharacters) continue
    yield piece
    piece = []
    characters = 0
  }
  if (piece.length > 0) yield piece
}
