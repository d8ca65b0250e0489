import { compileLookUps, toFacts } from '../admission/admission-query.ts'
import { compileKeyLookUp, toKeyOfAccount } from '../admission/key-query.ts'
import type { Store } from '../store.ts'
import type { ColumnValues, SqlDatabase } from './sql-database.ts'

/** What admission asks, for every request. */
export function createLookUps(database: SqlDatabase): Pick<Store, 'lookUp' | 'lookUpKey'> {
  const { kysely, lookUpClock } = database
  const compiled = compileLookUps(kysely, lookUpClock)
  const factsOf = (row: ColumnValues | null) => toFacts(row, lookUpClock)
  const lookUpA = database.prepareOne(compiled.a, factsOf)
  const lookUpB = database.prepareOne(compiled.b, factsOf)
  const lookUpKey = database.prepareOne(compileKeyLookUp(kysely, lookUpClock), (row) =>
    toKeyOfAccount(row, lookUpClock),
  )

  return {
    lookUp(address, keyHash) {
      const key = keyHash ?? ''
      return address.form === 'a'
        ? lookUpA([address.accountSlug, address.sheetSlug, key])
        : lookUpB([address.sheetId, key])
    },

    lookUpKey: (keyHash) => lookUpKey([keyHash]),
  }
}
