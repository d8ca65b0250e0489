import type { Snapshot } from './snapshot.ts'

/** The list of a tab's rows where it could be made without taking them apart. */
export interface ListedRows extends Pick<Snapshot, 'columns' | 'lastRowNumber'> {
  listJson: Uint8Array<ArrayBuffer>
  rowStarts: Uint32Array<ArrayBuffer>
  rowNumbers: Uint32Array<ArrayBuffer>
}
