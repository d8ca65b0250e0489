import type { Provider } from '../../sheets/provider.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { Problem } from '../problem.ts'
import { orProblem } from './provider-problem.ts'

/** What the texts of a sheet are in, where the spreadsheet does not tell. */
export interface Encodings {
  /** null where there is nothing to choose. */
  of(sheet: SheetRecord): ChosenEncoding | null
  /** Where the sheet is, read in this encoding (null = as its bytes tell), or why it cannot be. */
  locate(sheet: SheetRecord, encoding: string | null): Promise<string | Problem>
}

export interface ChosenEncoding {
  /** null = as its bytes tell. */
  chosen: string | null
  names: readonly string[]
}

export interface EncodingsParts {
  providers: ReadonlyMap<string, Provider>
  kinds: ProviderKinds
  decoding: Decoding
}

export function createEncodings({ providers, kinds, decoding }: EncodingsParts): Encodings {
  return {
    of: ({ provider, location }) => {
      const { encodings } = kinds.of(provider)
      const chosen = encodings?.of(location)
      return encodings === undefined || chosen === undefined ? null : { chosen, names: encodings.names }
    },
    async locate(sheet, encoding) {
      const { encodings } = kinds.of(sheet.provider)
      if (encodings?.of(sheet.location) === undefined)
        return problem(`"${sheet.slug}" says itself what it is in`)
      const name = encoding === null ? null : encodings.named(encoding)
      if (name === undefined)
        return problem(`"${sheet.slug}" can be in ${encodings.names.join(', ')}, not in "${encoding}"`)
      const location = encodings.at(sheet.location, name)
      const unreadable = await problemAt({ ...sheet, location })
      return unreadable
        ? new Problem(unreadable.message, { ...unreadable.facts, field: 'encoding' })
        : location
    },
  }

  /** In an encoding that the file is not in, its clients would only be told so. */
  async function problemAt(sheet: SheetRecord): Promise<Problem | null> {
    const provider = providers.get(sheet.provider)
    if (!provider) throw new Error(`There is no provider "${sheet.provider}"`)
    const wish = { values: 'typed', knownVersion: null } as const
    const read = await orProblem(kinds.of(sheet.provider), () =>
      decoding.decode(sheet.accountId, (turn) => provider.fetch(sheet, wish, turn)),
    )
    return read instanceof Problem ? read : null
  }
}

function problem(message: string): Problem {
  return new Problem(message, { field: 'encoding' })
}
