import { hash } from 'node:crypto'
import type { Clock } from '../clock.ts'

/**
 * A call of a tool is judged when the tool asks the API, and some ask for nothing. Where a stranger came from is remembered for a moment, and
 * whoever comes from there with a key that was not let in since is judged first: else one who makes up keys would be answered without an end.
 */
export interface Strangers {
  mustBeJudged(network: string, key: string | null): boolean
  noteStranger(network: string): void
  noteAdmitted(key: string): void
}

const knownForMs = 60_000
const mostKnown = 10_000

export function createStrangers(clock: Pick<Clock, 'elapsedMs'>): Strangers {
  const networks = createRecent(clock)
  const admitted = createRecent(clock)
  return {
    mustBeJudged: (network, key) =>
      key === null || (networks.has(network) && !admitted.has(hash('sha256', key))),
    noteStranger: networks.note,
    noteAdmitted: (key) => admitted.note(hash('sha256', key)),
  }
}

function createRecent({ elapsedMs }: Pick<Clock, 'elapsedMs'>) {
  /** In the order of time. */
  const notedAtMs = new Map<string, number>()
  return {
    has(name: string): boolean {
      const atMs = notedAtMs.get(name)
      return atMs !== undefined && elapsedMs() - atMs < knownForMs
    },
    note(name: string): void {
      notedAtMs.delete(name)
      notedAtMs.set(name, elapsedMs())
      if (notedAtMs.size > mostKnown) notedAtMs.delete(notedAtMs.keys().next().value ?? '')
    },
  }
}
