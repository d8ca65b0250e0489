import { settledWithinMs } from '../../../shared-state/registers/register-value.ts'
import type { ValueForm } from '../../../shared-state/registers/shared-value.ts'
import { addEnded, forgetPlace, isIdle, type RationBook, rationOf } from './ration-book.ts'
import { emptyRation, type Ration, type RationPlace } from './ration-window.ts'

/** How the book travels between servers, and how two that grew apart become one again. */
export const rationBookForm: ValueForm<RationBook> = {
  version: 1,
  empty: () => ({ project: emptyRation(), owners: new Map(), waiting: [], settledAtMs: 0 }),
  encode({ project, owners, waiting, settledAtMs }) {
    const written: WrittenBook = {
      project: { ...project, running: [], ended: [] },
      owners: [...owners].map(([subject, ration]) => ({
        subject,
        ration: { ...ration, running: [], ended: [] },
        running: ration.running.map(({ id, freeAtMs }) => [id, freeAtMs]),
        ended: ration.ended.map(({ id, freeAtMs }) => [id, freeAtMs]),
      })),
      waiting,
      settledAtMs,
    }
    return JSON.stringify(written)
  },
  decode(text) {
    const { project, owners, waiting, settledAtMs } = JSON.parse(text) as WrittenBook
    const book: RationBook = { project, owners: new Map(), waiting, settledAtMs }
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
    const running = idsOf(into.project.running)
    const ended = idsOf(into.project.ended)
    for (const [subject, ration] of known.owners) {
      for (const one of [rationOf(into, subject), into.project]) {
        for (const place of ration.running) {
          if (!running.has(place.id) && !ended.has(place.id)) one.running.push(moved(place))
        }
        for (const place of ration.ended) {
          if (ended.has(place.id)) continue
          // There it is not known yet that the call is over.
          if (running.has(place.id)) forgetPlace(one, place.id)
          addEnded(one, moved(place))
        }
      }
      mergeRation(rationOf(into, subject), ration, shiftMs)
    }
    mergeRation(into.project, known.project, shiftMs)
    // The other servers know of calls that are missing here: none is let through before they had time to say so, from
    // the first who says so on. It may be closed for another reason, and for less.
    if (into.settledAtMs <= nowMs) into.settledAtMs = nowMs + settledWithinMs
    into.project.closedUntilMs = Math.max(into.project.closedUntilMs, into.settledAtMs)
  },
}

/** A busy project has hundreds of places: without the names of their fields they are read three times as fast. */
type WrittenPlace = [id: string, freeAtMs: number]

interface WrittenBook extends Omit<RationBook, 'owners'> {
  owners: { subject: string; ration: Ration; running: WrittenPlace[]; ended: WrittenPlace[] }[]
}

function idsOf(places: readonly RationPlace[]): Set<string> {
  return new Set(places.map(({ id }) => id))
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
