import { createHash, randomInt } from 'node:crypto'
import { randomBase62 } from '../../../secrets/random-base62.ts'
import { fieldsOf, textOf } from '../../remote/json-fields.ts'

/**
 * A mark that a batch leaves in the spreadsheet. Google refuses a second one of the same id, and with it the whole
 * batch: so a batch that may have been lost on its way can be made impossible by leaving its mark first.
 */
export interface Marker {
  /** Unique in the spreadsheet; ours to choose. */
  id: number
  /** The marker's text says also whose it is and when it was made, so that whoever finds an old one can clear it away. */
  text: string
}

/** One that a search found. */
export interface FoundMarker {
  id: number
  /** Names the journal in which its batch is written down; null where the text does not tell. */
  journalTag: string | null
  /** By Google's clock; null where the text does not tell, or tells it by the clock of some machine. */
  madeAtMs: number | null
  /** It stands for a batch that was not done. */
  isVoid: boolean
}

export const markerKey = 'rowport'
/** Not secret: whoever sees it knows that Rowport wrote here, and when. Short, because Google counts characters. */
const textShape = /^([0-9a-z]{4})\.([0-9a-z]{5}|-)\.[0-9A-Za-z]{4}(!?)$/
/** Markers of former versions: their seconds are by the clock of the machine that wrote them, which may have been wrong by days. */
const formerShape = /^[0-9a-z]{1,8}-[0-9A-Za-z]{10}(!?)$/
const unknownTime = '-'
const stepMs = 60_000
const highestId = 2 ** 31 - 1
/** Instead of the batch, to keep it out. */
const voidSign = '!'

/**
 * Names a journal by the key that its servers share (`Sealing.keyId`), without telling anything of the key: so few
 * characters fit a million keys.
 */
export function journalTagOf(keyId: string): string {
  const digest = createHash('sha256').update(`rowport marker ${keyId}`).digest()
  return (digest.readUInt32BE() % 36 ** 4).toString(36).padStart(4, '0')
}

/** `googleMs`: Google's time, null where it is not known yet. */
export function newMarker(journalTag: string, googleMs: number | null): Marker {
  // Rounded up: it must never look older than it is.
  const made =
    googleMs === null
      ? unknownTime
      : Math.ceil(googleMs / stepMs)
          .toString(36)
          .padStart(5, '0')
  return { id: randomInt(1, highestId), text: `${journalTag}.${made}.${randomBase62(4)}` }
}

export function fenceOf({ id, text }: Marker): string {
  return `${id} ${text}`
}

export function readFence(fence: string): Marker {
  const [id = '', text = ''] = fence.split(' ')
  return { id: Number(id), text }
}

/** What a batch leaves, or what is left in its stead. */
export function createMarkerRequest({ id, text }: Marker, as: 'done' | 'void'): object {
  return {
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId: id,
        metadataKey: markerKey,
        metadataValue: as === 'done' ? text : text + voidSign,
        location: { spreadsheet: true },
        // Not PROJECT: after a change of the client id, we would neither find our own nor be able to make another.
        visibility: 'DOCUMENT',
      },
    },
  }
}

export function deleteMarkerRequest(id: number): object {
  return { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId: id } } } }
}

/** 'foreign': somebody else's metadata has the id. */
export function readMarkerAs(metadata: unknown, { text }: Marker): 'done' | 'void' | 'foreign' {
  const { metadataKey, metadataValue } = fieldsOf(metadata)
  if (metadataKey !== markerKey) return 'foreign'
  if (metadataValue === text) return 'done'
  return metadataValue === text + voidSign ? 'void' : 'foreign'
}

/** Any that Rowport left; null for what is not of its making. */
export function readFoundMarker(metadata: unknown): FoundMarker | null {
  const { metadataId: id, metadataKey, metadataValue } = fieldsOf(metadata)
  if (metadataKey !== markerKey || typeof id !== 'number') return null
  const text = textOf(metadataValue) ?? ''
  const isVoid = text.endsWith(voidSign)
  const [, journalTag, made] = textShape.exec(text) ?? []
  if (journalTag === undefined || made === undefined) {
    return formerShape.test(text) ? { id, journalTag: null, madeAtMs: null, isVoid } : null
  }
  const madeAtMs = made === unknownTime ? null : Number.parseInt(made, 36) * stepMs
  return { id, journalTag, madeAtMs, isVoid }
}
