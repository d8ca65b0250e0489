import { Refusal } from '../../errors.ts'
import { packEntries, unpackEntries } from '../../store/changes/packed-entries.ts'
import type { TabPlace } from '../provider.ts'
import type { RefusedAnswer, WriteAnswer } from './order.ts'

/** What the journal keeps as text, so that whoever comes after a crash knows where to ask and what to tell. */

export interface JournalPlace extends TabPlace {
  provider: string
}

export interface JournalAnswer {
  answer: WriteAnswer
  /** False while the row numbers are a guess (`Prepared.isExact`). */
  isExact: boolean
  /** `Prepared.expectedLastRow`, while they are. */
  expectedLastRow?: number | null
}

export function placeText({ provider, location, credentialId }: JournalPlace): string {
  return JSON.stringify({ provider, location, credentialId })
}

export function readPlace(text: string): JournalPlace {
  return JSON.parse(text) as JournalPlace
}

/**
 * What is exact has the same text before and after it was done, so that it need not be written again. A long answer is made in steps: its
 * long members are lines of their own behind the rest, each with the member's name and a packed piece of it.
 */
export function* answerText(
  answer: WriteAnswer,
  guess?: Omit<JournalAnswer, 'answer'>,
): Generator<void, string> {
  const known = guess && !guess.isExact ? guess : { isExact: true }
  const head: Record<string, unknown> = { ...answer }
  const lines: string[] = []
  for (const [name, member] of Object.entries(answer)) {
    if (!isLong(member)) continue
    head[name] = typeof member === 'string' ? '' : []
    for (const piece of typeof member === 'string' ? piecesOfText(member) : piecesOfList(member)) {
      if (piece !== null) lines.push(`${name} ${packEntries(piece, Number.POSITIVE_INFINITY)}`)
      yield
    }
  }
  const first = JSON.stringify({ answer: head, ...known })
  return lines.length === 0 ? first : [first, ...lines].join(lineEnd)
}

/** JSON has none in it, nor has what is packed. */
const lineEnd = '\n'
const longListItems = 20
const pieceCharacters = 64 * 1_024

function isLong(member: unknown): member is string | readonly unknown[] {
  if (typeof member === 'string') return member.length > pieceCharacters
  return Array.isArray(member) && (member.length > longListItems || member.some(isLongItem))
}

function isLongItem(item: unknown): boolean {
  return typeof item === 'object' && item !== null ? Object.values(item).some(isLong) : isLong(item)
}

function* piecesOfText(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += pieceCharacters)
    yield JSON.stringify(text.slice(from, from + pieceCharacters))
}

/** null where a piece is not full yet. */
function* piecesOfList(list: readonly unknown[]): Generator<string | null> {
  let items: string[] = []
  let characters = 0
  for (const [at, item] of list.entries()) {
    const text = JSON.stringify(item)
    items.push(text)
    characters += text.length
    const isFull = characters >= pieceCharacters || at === list.length - 1
    yield isFull ? `[${items.join(',')}]` : null
    if (!isFull) continue
    items = []
    characters = 0
  }
}

export function refusalText({ code, facts }: Refusal): string {
  return JSON.stringify({ kind: 'refused', code, facts } satisfies RefusedAnswer)
}

export function* readAnswer(text: string): Generator<void, JournalAnswer | Refusal> {
  const end = text.indexOf(lineEnd)
  const kept = JSON.parse(end === -1 ? text : text.slice(0, end)) as JournalAnswer | RefusedAnswer
  if ('kind' in kept) return new Refusal(kept.code, kept.facts)
  const members = kept.answer as unknown as Record<string, unknown[] | string>
  for (let from = end + 1; from > 0; ) {
    yield
    const next = text.indexOf(lineEnd, from)
    const line = text.slice(from, next === -1 ? undefined : next)
    const name = line.slice(0, line.indexOf(' '))
    const piece = JSON.parse(unpackEntries(line.slice(name.length + 1))) as unknown[] | string
    const member = members[name]
    if (typeof piece === 'string') members[name] = `${member}${piece}`
    else if (Array.isArray(member)) for (const item of piece) member.push(item)
    from = next + 1
  }
  return kept
}
