import { useState } from 'react'
import { CodeBlock } from '../../ui/copy.tsx'
import { Segmented } from '../../ui/segmented.tsx'

/** One thing in several languages, one at a time. */
export function Snippets({ snippets }: { snippets: readonly { name: string; code: string }[] }) {
  const [chosen, setChosen] = useState(snippets[0]?.name)
  const shown = snippets.find(({ name }) => name === chosen) ?? snippets[0]
  return (
    <>
      <div className="mb-3">
        <Segmented
          label="Language"
          value={shown?.name ?? ''}
          choices={snippets.map(({ name }) => ({ value: name, title: name }))}
          onChange={setChosen}
        />
      </div>
      <CodeBlock code={shown?.code ?? ''} label={`${shown?.name} example`} />
    </>
  )
}
