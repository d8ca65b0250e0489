import { changeJson } from './change-json.ts'
import { everyChange, type ReadingChanges } from './reading-changes.ts'

const changesTogether = 500

/**
 * All that is kept of a sheet's log, as JSON texts of a few changes each, read while it is sent. What is forgotten meanwhile is left
 * out, and so is what a new log has.
 */
export async function* wholeLog(
  sheetId: string,
  changes: Pick<ReadingChanges, 'positionOf' | 'after'>,
): AsyncGenerator<string[]> {
  const position = await changes.positionOf(sheetId)
  if (position?.epoch == null) return
  const { epoch } = position
  for (let place = { epoch, seq: position.floor }; ; ) {
    const read = await changes.after(sheetId, place, { ...everyChange, limit: changesTogether })
    if (read.changes.length > 0) yield read.changes.map(changeJson)
    const now = read.over === 'expired' ? await changes.positionOf(sheetId) : null
    if (now?.epoch === epoch && now.floor > place.seq) place = { epoch, seq: now.floor }
    else if (read.over || read.changes.length === 0) return
    else place = { epoch, seq: read.next.seq }
  }
}
