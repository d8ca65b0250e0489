import { settledWithinMs } from '../../shared-state/cell-value.ts'
import type { ValueForm } from '../../shared-state/shared-value.ts'
import { addEnded, isIdle, type RationBook, rationOf } from './ration-book.ts'
import { emptyRation, type Ration, type RationPlace } from './ration-window.ts'

/** How the book travels between servers, and how two that grew apart become one again. */
export const rationBookForm: ValueForm<RationBook> = {
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
  merge(into, known, shiftMs, nowMs) {
    const moved = ({ id, freeAtMs }: RationPlace) => ({ id, freeAtMs: freeAtMs + shiftMs })
    const there = new Set([...into.project.running, ...into.project.ended].map(({ id }) => id))
    for (const [subject, ration] of known.owners) {
      for (const one of [rationOf(into, subject), into.project]) {
        one.running.push(...ration.running.filter(({ id }) => !there.has(id)).map(moved))
        for (const place of ration.ended) if (!there.has(place.id)) addEnded(one, moved(place))
      }
      mergeRation(rationOf(into, subject), ration, shiftMs)
    }
    mergeRation(into.project, known.project, shiftMs)
    // The other servers know of calls that are missing here: none is let through before they had time to say so.
    if (into.project.closedUntilMs <= nowMs) into.project.closedUntilMs = nowMs + settledWithinMs
  },
}

/** A busy project has hundreds of places: without the names of their fields they are read three times as fast. */
type WrittenPlace = [id: string, freeAtMs: number]

interface WrittenBook extends Omit<RationBook, 'owners'> {
  owners: { subject: string; ration: Ration; running: WrittenPlace[]; ended: WrittenPlace[] }[]
}

function placeOf([id, freeAtMs]: WrittenPlace): RationPlace {
  return { id, freeAtMs }
}

function mergeRation(into: Ration, known: Ration, shiftMs: number): void {
  into.lastGivenMs = Math.max(into.lastGivenMs, known.lastGivenMs + shiftMs)
  into.closedUntilMs = Math.max(into.closedUntilMs, known.closedUntilMs + shiftMs)
  into.isOnTrial ||= known.isOnTrial
  into.refusals = Math.max(into.refusals, known.refusals)
}
