import type { ValueForm } from '../../../shared-state/registers/shared-value.ts'
import { isIdle, type RationBook } from './ration-book.ts'
import { emptyRation, type Ration, type RationPlace } from './ration-window.ts'

/** How the book travels between servers. */
export const rationBookForm: ValueForm<RationBook> = {
  version: 2,
  empty: () => ({ project: emptyRation(), owners: new Map(), waiting: [] }),
  encode({ project, owners, waiting }) {
    const written: WrittenBook = {
      project: { ...project, running: [], ended: [] },
      owners: [...owners].map(([subject, ration]) => ({
        subject,
        ration: { ...ration, running: [], ended: [] },
        running: ration.running.map(({ id, freeAtMs }) => [id, freeAtMs]),
        ended: ration.ended.map(({ id, freeAtMs }) => [id, freeAtMs]),
      })),
      waiting,
    }
    return JSON.stringify(written)
  },
  decode(text) {
    const { project, owners, waiting } = JSON.parse(text) as WrittenBook
    const book: RationBook = { project, owners: new Map(), waiting }
    for (const { subject, ration, running, ended } of owners) {
      ration.running = running.map(placeOf)
      ration.ended = ended.map(placeOf)
      project.running.push(...ration.running)
      project.ended.push(...ration.ended)
      book.owners.set(subject, ration)
    }
    project.ended.sort((one, other) => one.freeAtMs - other.freeAtMs)
    return book
  },
  isIdle: ({ project, owners }, nowMs) =>
    isIdle(project, nowMs) && [...owners.values()].every((ration) => isIdle(ration, nowMs)),
}

/** A busy project has hundreds of places: without the names of their fields they are read three times as fast. */
type WrittenPlace = [id: string, freeAtMs: number]

interface WrittenBook extends Omit<RationBook, 'owners'> {
  owners: { subject: string; ration: Ration; running: WrittenPlace[]; ended: WrittenPlace[] }[]
}

function placeOf([id, freeAtMs]: WrittenPlace): RationPlace {
  return { id, freeAtMs }
}
