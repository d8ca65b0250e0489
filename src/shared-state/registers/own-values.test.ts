import { systemClock } from '../../clock.ts'
import { createOwnValues } from './own-values.fixture.ts'
import { namesForm, sharedValueContract } from './shared-value.contract.ts'

sharedValueContract(
  'one process',
  async (_t, names) => {
    const share = createOwnValues(systemClock)
    const values = new Map(names.map((name) => [name, share(name, namesForm)]))
    return names.flatMap((name) => values.get(name) ?? [])
  },
  false,
)
