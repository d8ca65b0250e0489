import { systemClock } from '../../clock.ts'
import { createOwnValue } from './own-value.ts'
import { namesForm, sharedValueContract } from './shared-value.contract.ts'

sharedValueContract(
  'one process',
  async (_t, names) => {
    const values = new Map(names.map((name) => [name, createOwnValue(namesForm, systemClock)]))
    return names.flatMap((name) => values.get(name) ?? [])
  },
  false,
)
