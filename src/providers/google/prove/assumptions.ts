import type { ProvenAssumption } from '../../../sheets/proof.ts'
import { RefusedByGoogle } from '../client/google-errors.ts'
import { attemptLateBatches } from './late-batches.ts'
import type { Attempted, ScratchTab } from './scratch-tab.ts'

/** Something that docs/decisions/011-what-google-leaves-open.md takes for granted. */
export interface Assumption extends Omit<ProvenAssumption, 'holds' | 'saw'> {
  attempt(tab: ScratchTab): Promise<Attempted>
}

export const assumptions: readonly Assumption[] = [
  {
    id: 'marker_once',
    assumes: 'A second marker of the same id is refused',
    because: 'It keeps out a batch that arrives twice or late: writes happen exactly once.',
    otherwise: 'A write whose response was lost could be done twice.',
    switchesOff: 'writes',
    async attempt(tab) {
      const id = tab.newMarkerId()
      await tab.batch([tab.marker(id)])
      const isRefused = await endsInRefusal(() => tab.batch([tab.marker(id)]))
      return { holds: isRefused, saw: isRefused ? 'refused' : 'the second one was taken' }
    },
  },
  {
    id: 'batch_whole',
    assumes: 'A batch of which one part is refused changes nothing',
    because: 'The marker keeps out the rows that travel with it, and many rows are changed all or none.',
    otherwise: 'A write could be done in part, or twice.',
    switchesOff: 'writes',
    async attempt(tab) {
      const id = tab.newMarkerId()
      await tab.write([['before']])
      await tab.batch([tab.marker(id)])
      await endsInRefusal(() => tab.batch([tab.cells(0, [['after']]), tab.marker(id)]))
      const [[cell] = []] = await tab.values()
      return { holds: cell === 'before', saw: `the cell holds “${String(cell)}”` }
    },
  },
  {
    id: 'added_at_the_end',
    assumes: 'Rows that are added stand in column A, after the last row with data, and overwrite nothing',
    because: 'The numbers of new rows are told by it.',
    otherwise: 'An addition could overwrite what is there, or be told with the number of another row.',
    switchesOff: 'additions',
    async attempt(tab) {
      await tab.write([['name', '', 'price'], [], ['', '', 3]])
      await tab.batch([tab.append([['new']])])
      const seen = JSON.stringify(await tab.values())
      return { holds: seen === '[["name","","price"],[],["","",3],["new"]]', saw: seen }
    },
  },
  {
    id: 'as_written',
    assumes: 'Texts and numbers are kept as they were sent, never parsed',
    because: 'What is written is what is read: “=1+1” is no formula, “007” no number.',
    otherwise: 'A text that was written could be read as a number, or run as a formula.',
    switchesOff: 'writes',
    async attempt(tab) {
      const row = ['=1+1', '007', 'TRUE', '2026-11-17', 1.5, true]
      await tab.write([row])
      const seen = JSON.stringify((await tab.values())[0])
      return { holds: seen === JSON.stringify(row), saw: seen }
    },
  },
  {
    id: 'blank_rows_kept',
    assumes: 'Blank rows between others are in what is read',
    because: 'A row’s number is its position.',
    otherwise: 'Rows would have the numbers of others, and be changed in their place.',
    switchesOff: 'reads',
    async attempt(tab) {
      await tab.write([['first'], [], [], ['fourth']])
      const { length } = await tab.values()
      const inGrid = await tab.gridRows()
      return { holds: length === 4 && inGrid === 4, saw: `${length} rows as values, ${inGrid} with formats` }
    },
  },
  {
    id: 'refusals_told',
    assumes: 'A tab that is not there is refused with words that tell it from other refusals',
    because: 'A tab that was deleted is said to be, and one that changed its size is looked at again.',
    otherwise: 'Owners are told that Google refused, without what to do about it.',
    switchesOff: null,
    async attempt(tab) {
      const error = await tab
        .batch([tab.cells(0, [['x']], tab.missingTabId)])
        .catch((failure: unknown) => failure)
      const holds = error instanceof RefusedByGoogle && error.isAboutGrid
      return { holds, saw: error instanceof Error ? error.message : 'it was done' }
    },
  },
  {
    id: 'date_told',
    assumes: "Responses say what time it is on Google's servers",
    because: 'Markers that others left are cleared away by it.',
    otherwise:
      'Markers are counted from when they are found, and stay a little longer. Nothing else changes.',
    switchesOff: null,
    async attempt(tab) {
      const nowMs = tab.googleMs()
      return { holds: nowMs !== null, saw: nowMs === null ? 'no Date' : new Date(nowMs).toISOString() }
    },
  },
  {
    id: 'late_batches',
    assumes: 'A batch whose response was given up lands within three minutes, or never',
    because: 'Its marker is kept for ten.',
    otherwise: 'A write that was given up could be done after its marker is gone, and so twice.',
    switchesOff: 'writes',
    attempt: attemptLateBatches,
  },
]

async function endsInRefusal(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return false
  } catch (error) {
    if (error instanceof RefusedByGoogle) return true
    throw error
  }
}
