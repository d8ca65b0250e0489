import { marks } from '../json-marks.ts'
import type { LoggedChange } from '../sheets/logged-change.ts'
import type { LongName } from './read-change.ts'

/** Changes of long entries, read while the text comes slice by slice. The longest texts in them are passed over. */
export interface Outline {
  changes: OutlinedChange[]
  /** How long the entries are, as far as they came. */
  characters(): number
  /** How much of that was parsed. */
  parsedBytes(): number
  /** What follows, in steps of a millisecond. */
  take(slice: Uint8Array): Generator<void>
}

export interface OutlinedChange {
  /** With an empty text for each that was passed over. */
  change: LoggedChange
  long: PassedText[]
}

/** Where it stands in the entries, without its quotes. */
export interface PassedText {
  name: LongName
  from: number
  to: number
  characters: number
}

/** What is as short is parsed with its change. Whatever a message to a webhook may hold is (`webhooks/messages.ts`). */
const longCharacters = 256 * 1024
const bytesInAStep = 512 * 1024
/** To parse more takes long enough for a step of its own. */
const parsedInAStep = 64 * 1024

/** How far a text was looked at. */
interface TextScan {
  at: number
  isEscaped: boolean
  isClosed: boolean
  /** As it stands there. */
  characters: number
  escapes: number
}

/** In a change, and in nothing that is in it. */
const ofChange = 2

/** `isWithLost`: also what only an undo wants to know, which may be as long as a row. */
export function createOutline(isWithLost: boolean): Outline {
  const changes: OutlinedChange[] = []
  let long: PassedText[] = []
  /** What will be parsed of the change that is being read. */
  let kept: Uint8Array[] = []
  let depth = 0
  let isInText = false
  let isValue = false
  let isDropped = false
  let name = ''
  /** Where the text begins that is being read, and how much was kept before it; only of one that may be passed over. */
  let passable: { name: LongName; from: number; keptBefore: number } | null = null
  let isPassed = false
  let text = newScan()
  let sliceAt = 0
  let characters = 0
  let parsedBytes = 0

  return { changes, characters: () => characters, parsedBytes: () => parsedBytes, take }

  function* take(slice: Uint8Array): Generator<void> {
    let keptFrom = depth >= ofChange && !isDropped && !isPassed ? 0 : -1
    let stepEnd = Math.min(bytesInAStep, slice.byteLength)
    for (let at = 0; at < slice.byteLength; ) {
      if (at >= stepEnd) {
        yield
        stepEnd = Math.min(at + bytesInAStep, slice.byteLength)
      }
      if (isInText) {
        const isName = depth === ofChange && !isValue
        text.at = at
        scanText(slice, text, stepEnd)
        if (isName) name += Buffer.from(slice.subarray(at, text.isClosed ? text.at - 1 : text.at)).toString()
        at = text.at
        if (passable && !isPassed && text.characters - text.escapes > longCharacters) {
          isPassed = true
          keptFrom = -1
          kept.length = passable.keptBefore
        }
        if (text.isClosed) endText(at)
        continue
      }
      const byte = slice[at++]
      characters++
      if (byte === marks.quote) beginText(at)
      else if (byte === marks.openingBrace || byte === marks.openingBracket) {
        depth++
        if (depth === ofChange) {
          keptFrom = at - 1
          isValue = false
        }
      } else if (byte === marks.closingBrace || byte === marks.closingBracket) {
        if (depth === ofChange) {
          if (isDropped) keptFrom = at - 1
          isDropped = false
          keep(at)
          if (endChange() > parsedInAStep) yield
        }
        depth--
      } else if (depth === ofChange && byte === colon) {
        isValue = true
        if (name === 'lost' && !isWithLost) {
          keep(at)
          kept.push(nothing)
          isDropped = true
        }
      } else if (depth === ofChange && byte === marks.comma) {
        isValue = false
        if (isDropped) keptFrom = at - 1
        isDropped = false
      }
    }
    if (keptFrom !== -1) kept.push(slice.subarray(keptFrom))
    sliceAt += slice.byteLength

    function keep(to: number): void {
      if (keptFrom !== -1) kept.push(slice.subarray(keptFrom, to))
      keptFrom = -1
    }

    function beginText(at: number): void {
      isInText = true
      text = newScan()
      if (depth !== ofChange) return
      if (!isValue) name = ''
      else if (isLongName(name)) {
        keep(at)
        keptFrom = at
        passable = { name, from: sliceAt + at, keptBefore: kept.length }
      }
    }

    function endText(at: number): void {
      isInText = false
      characters += text.characters + 1
      if (passable && isPassed) {
        const { name, from } = passable
        const to = sliceAt + at - 1
        long.push({ name, from, to, characters: text.characters - text.escapes })
        keptFrom = at - 1
      }
      passable = null
      isPassed = false
    }
  }

  /** How long what was parsed is. */
  function endChange(): number {
    const json = Buffer.concat(kept)
    changes.push({ change: JSON.parse(json.toString()) as LoggedChange, long })
    kept = []
    long = []
    parsedBytes += json.byteLength
    return json.byteLength
  }
}

/** A loop over bytes with all that it needs at hand: most of a long change is passed in it. */
function scanText(slice: Uint8Array, text: TextScan, to: number): void {
  let { at, isEscaped, characters, escapes } = text
  while (at < to) {
    const byte = slice[at++] as number
    if (isEscaped) {
      isEscaped = false
      characters++
    } else if (byte === marks.backslash) {
      isEscaped = true
      characters++
      escapes++
    } else if (byte === marks.quote) {
      text.isClosed = true
      break
    } else if (byte < 0x80 || byte >= 0xc0) characters += byte < 0xf0 ? 1 : 2
  }
  text.at = at
  text.isEscaped = isEscaped
  text.characters = characters
  text.escapes = escapes
}

function newScan(): TextScan {
  return { at: 0, isEscaped: false, isClosed: false, characters: 0, escapes: 0 }
}

function isLongName(name: string): name is LongName {
  return name === 'before' || name === 'after' || name === 'key'
}

const colon = 0x3a
const nothing = Buffer.from('null')
