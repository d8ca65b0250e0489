import { Refusal } from '../../errors.ts'
import type { Cell } from '../grid.ts'
import type { Decoder, Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { appendCsvRows, isRepresentableInCsv } from './csv/csv.ts'
import { asProviderFailure } from './file-failure.ts'
import { type FileLocation, kindOf, parseFileLocation } from './file-location.ts'
import { readFile } from './read-file.ts'
import { replaceFile } from './replace-file.ts'

/** Spreadsheets in local files, served in place: others may edit them at any time. */
export function createFileProvider(): Provider {
  return {
    async fetch(location, knownVersion) {
      const place = parseFileLocation(location)
      const decoder = decoderFor(place)
      const read = await failing(() => readFile(place.path, knownVersion))
      return read === 'unchanged' ? read : { ...read, decoder }
    },

    async append(location, rows, version) {
      const { path } = parseFileLocation(location)
      if (kindOf(path) !== 'csv') {
        throw new ProviderFailure('Excel workbooks can be read but not yet written to; CSV files can')
      }
      const unfit = rows.flat().find((cell) => !isRepresentableInCsv(cell))
      if (unfit !== undefined) return new Refusal('invalid_body', { details: whyUnfit(unfit) })
      return failing(async () => {
        const read = await readFile(path, null)
        if (read === 'unchanged' || read.version !== version) return 'conflict'
        const bytes = appendCsvRows(read.bytes, rows)
        return (await replaceFile(path, bytes, version)) ? 'appended' : 'conflict'
      })
    },
  }
}

function decoderFor({ path, tab }: FileLocation): Decoder {
  const kind = kindOf(path)
  if (kind === 'csv')
    return { module: new URL('./csv/csv.ts', import.meta.url).href, name: 'decodeCsv', options: {} }
  if (kind === 'xlsx') {
    const options = tab === undefined ? {} : { tab }
    return { module: new URL('./xlsx/xlsx.ts', import.meta.url).href, name: 'decodeXlsx', options }
  }
  throw new ProviderFailure('the file is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx)')
}

function whyUnfit(cell: Cell): string {
  return typeof cell === 'number'
    ? `A CSV file keeps 15 digits of a number; ${cell} has more. Send it as text.`
    : 'A CSV file cannot hold the character U+0000.'
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asProviderFailure(error)
  }
}
