import { useState } from 'react'
import type { KeyView, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
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
export function AgentLines({ made: { key, value } }: { made: NewKeyView }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="mt-5 text-sm" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className="cursor-pointer font-medium">Use it with an agent</summary>
      {isOpen && (
        <div className="mt-3 space-y-3">
          <WhatAgentsCan of={key} />
          <Lines value={value} />
        </div>
      )}
    </details>
  )
}

/** Stands where the key belongs, of which nobody has more than a hash. */
const placeholder = 'YOUR_API_KEY'

/** Lines for a key that has been there for a while. */
export function AgentAccess({ of: key, onClose }: { of: KeyView | null; onClose(): void }) {
  return (
    <Dialog title={`Use “${key?.name}” with an agent`} isOpen={key !== null} onClose={onClose}>
      {key && (
        <div className="space-y-3 text-sm">
          <WhatAgentsCan of={key} />
          {isForAgents(key) && <Lines value={key.publicValue ?? placeholder} />}
          {key.publicValue === null && (
            <p className="text-caption text-soft">
              Replace <code className="font-mono">{placeholder}</code> with the key that begins with{' '}
              <code className="font-mono">{key.shownStart}</code> and ends with{' '}
              <code className="font-mono">{key.shownEnd}</code>. Rowport stores only a hash of it.
            </p>
          )}
        </div>
      )}
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  )
}

/** Agents are no pages: they send no `Origin`. */
function isForAgents({ policy }: KeyView): boolean {
  return policy === null || policy.origins === 'any'
}

function WhatAgentsCan({ of: key }: { of: KeyView }) {
  const { account } = useSession()
  if (!isForAgents(key))
    return (
      <p className="text-soft">
        An agent can’t use this key: it works only from the pages you listed, and an agent isn’t a page.
        Create a key that reads instead.
      </p>
    )
  const where = key.sheetSlug === null ? 'all sheets of this account' : `the sheet ${key.sheetSlug}`
  const can = canDo(key, account.plan.writeApi)
  return (
    <p className="text-soft">
      An agent with this key can {can.join(', ').replace(/, (?=[^,]*$)/, ' and ')} rows of {where},{' '}
      {key.policy
        ? 'within what the key allows: its columns, rows and limits.'
        : 'with the limits of your plan.'}
      {can.includes('change')
        ? ' Cells can hold instructions that it may follow: a key that only reads is safer. What it writes can be undone in History.'
        : can.includes('add')
          ? ' It can’t change or delete any.'
          : ' It sees no tool that writes.'}
    </p>
  )
}

function canDo({ scope, policy }: KeyView, isWritingInPlan: boolean): string[] {
  const wanted = policy?.may ?? (scope === 'read' ? ['read'] : ['read', 'add', 'change', 'delete'])
  return wanted.filter((each) => each === 'read' || isWritingInPlan)
}

function Lines({ value }: { value: string }) {
  const { server } = useSession()
  const lines = linesFor(`${server.baseUrl}/mcp`, value)
  const [chosen, setChosen] = useState('Claude Code')
  const shown = lines.find(({ name }) => name === chosen)
  return (
    <>
      <Segmented
        label="Agent"
        value={chosen}
        choices={lines.map(({ name }) => ({ value: name, title: name }))}
        onChange={setChosen}
      />
      <p className="text-caption text-soft">{shown?.place}</p>
      <CodeBlock label={`${chosen} with this key`} code={shown?.code ?? ''} />
    </>
  )
}
