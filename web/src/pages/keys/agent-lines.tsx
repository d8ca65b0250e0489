import { useState } from 'react'
import type { NewKeyView } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { Segmented } from '../../ui/segmented.tsx'

/** What to paste where, so that an agent can use the key; the same as on the page about agents in the docs. */
function linesFor(url: string, key: string) {
  const headers = { Authorization: `Bearer ${key}` }
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  const remote = ['-y', 'mcp-remote', url, '--header', `Authorization: Bearer ${key}`]
  return [
    {
      name: 'Claude Code',
      place: 'In a terminal',
      code: `claude mcp add --transport http rowport ${url} --header "Authorization: Bearer ${key}"`,
    },
    {
      name: 'Claude Desktop',
      place: 'claude_desktop_config.json',
      code: json({ mcpServers: { rowport: { command: 'npx', args: remote } } }),
    },
    {
      name: 'Cursor',
      place: '~/.cursor/mcp.json',
      code: json({ mcpServers: { rowport: { url, headers } } }),
    },
    {
      name: 'VS Code',
      place: '.vscode/mcp.json',
      code: json({ servers: { rowport: { type: 'http', url, headers } } }),
    },
  ]
}

/** For those who want it: the dialog is long enough for the others. */
export function AgentLines({ made }: { made: NewKeyView }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="mt-5 text-sm" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className="cursor-pointer font-medium">Use it with an agent</summary>
      {isOpen && <Lines made={made} />}
    </details>
  )
}

function Lines({ made: { key, value } }: { made: NewKeyView }) {
  const { server } = useSession()
  const lines = linesFor(`${server.baseUrl}/mcp`, value)
  const [chosen, setChosen] = useState('Claude Code')
  const shown = lines.find(({ name }) => name === chosen)
  const where = key.sheetSlug === null ? 'all sheets of this account' : `the sheet ${key.sheetSlug}`
  const may = key.scope === 'read' ? 'read' : 'read, add, change and delete rows of'
  return (
    <div className="mt-3 space-y-3">
      <p className="text-soft">
        An agent with this key can {may} {where}, with the limits of your plan.
        {key.scope === 'read'
          ? ' It sees no tool that writes.'
          : ' Cells can hold instructions that it may follow: a key that only reads is safer. What it writes can be undone in History.'}
      </p>
      <Segmented
        label="Agent"
        value={chosen}
        choices={lines.map(({ name }) => ({ value: name, title: name }))}
        onChange={setChosen}
      />
      <p className="text-[13px] text-soft">{shown?.place}</p>
      <CodeBlock label={`${chosen} with the new key`} code={shown?.code ?? ''} />
    </div>
  )
}
