import type { SheetState } from '../../../../src/dashboard/contract.ts'
import { Badge } from '../../ui/states.tsx'

const looks: Record<SheetState, { tone: 'good' | 'warn' | 'bad' | 'plain'; text: string }> = {
  live: { tone: 'good', text: 'Live' },
  paused: { tone: 'warn', text: 'Paused' },
  needs_reconnect: { tone: 'warn', text: 'Reconnect needed' },
  broken: { tone: 'bad', text: 'Unreadable' },
}

export function SheetStateBadge({ state }: { state: SheetState }) {
  const { tone, text } = looks[state]
  return <Badge tone={tone}>{text}</Badge>
}
