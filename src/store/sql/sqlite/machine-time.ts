import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../clock.ts'

/**
 * The clock of an embedded store. It was set by the machine's time once, by the first process since the machine was
 * started, and goes on from there as the machine counts, in all processes alike: setting the time neither prolongs
 * nor ends what lasts here, and a command that starts afterwards agrees with the server that runs. How far it is ahead
 * of the count is in a table of SQLite's own; no other engine needs it, and no copy takes it along.
 */
export function createMachineTime(writer: DatabaseSync, clock: Clock): () => number {
  const { elapsedFrom } = clock
  // What other processes count from is unknown: all that they have in common is the time of day.
  if (elapsedFrom === undefined) return () => clock.nowMs()
  const aheadMs = keptOffsetMs() ?? agree(elapsedFrom)
  return () => Math.floor(aheadMs + clock.elapsedMs())

  function keptOffsetMs(): number | null {
    const isThere = writer.prepare(`select 1 from sqlite_schema where name = 'machine_time'`).get()
    if (!isThere) return null
    const row = writer
      .prepare('select ahead_ms from machine_time where counted_from = ?')
      .get(elapsedFrom ?? '')
    return row ? Number(row.ahead_ms) : null
  }

  function agree(countedFrom: string): number {
    const ownMs = Math.round(clock.nowMs() - clock.elapsedMs())
    writer.exec('begin immediate')
    try {
      writer.exec(
        'create table if not exists machine_time (counted_from text not null, ahead_ms integer not null)',
      )
      // Another process may have been here first.
      const others = keptOffsetMs()
      if (others === null) {
        writer.exec('delete from machine_time')
        writer.prepare('insert into machine_time values (?, ?)').run(countedFrom, ownMs)
      }
      writer.exec('commit')
      return others ?? ownMs
    } catch (error) {
      if (writer.isTransaction) writer.exec('rollback')
      throw error
    }
  }
}
