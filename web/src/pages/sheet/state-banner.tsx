import type { ReactNode } from 'react'
import type { SheetView, SwitchedOffView } from '../../../../src/dashboard/contract.ts'
import { useSources } from '../../sources.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { useSheetChange } from './sheet-change.ts'

const wayOut = {
  missing: (file: string) => ` To restore it, upload ${file} again under the same name.`,
  there: (file: string) => ` To restore it, replace ${file} with a file that can be read.`,
  elsewhere: (file: string) => ` Your administrator connected ${file} and can restore it.`,
  remote: () => '',
}

/** What keeps clients from the rows, and every way out of it. */
export function StateBanner({ sheet: { slug, state, stateReason, provider, source } }: { sheet: SheetView }) {
  const { nameOf, switchedOffAt } = useSources()
  if (state === 'paused') return <Paused slug={slug} />
  if (state === 'needs_reconnect')
    return (
      <Banner
        tone="warn"
        text={`Rowport has lost access to ${nameOf(provider)}, so requests return 503 token_expired. Reconnect to restore service.`}
      >
        <ButtonLink to="/settings">Reconnect {nameOf(provider)}</ButtonLink>
      </Banner>
    )
  if (state !== 'broken') return <SwitchedOff off={switchedOffAt(provider)} />
  const file = source.tab === null ? source.description : source.description.replace(` · ${source.tab}`, '')
  return (
    <Banner
      tone="bad"
      text={`Rowport can’t read this sheet: ${stateReason}.${wayOut[provider === 'file' ? (source.upload ?? 'elsewhere') : 'remote'](file)}`}
    >
      {source.upload === 'missing' && (
        <ButtonLink to="/connect" search={{ source: 'file' }}>
          Upload the file again
        </ButtonLink>
      )}
      {source.upload === 'there' && <ButtonLink to="/files">Replace the file</ButtonLink>}
      {provider !== 'file' && <ButtonLink to="/connect">Choose another spreadsheet</ButtonLink>}
      <ButtonLink to="/sheets/$slug/settings" params={{ slug }} hash="disconnect">
        Disconnect
      </ButtonLink>
    </Banner>
  )
}

function Paused({ slug }: { slug: string }) {
  const change = useSheetChange({ said: 'Resumed.' })
  return (
    <Banner tone="warn" text="This sheet is paused. Every request returns 503 sheet_paused.">
      <Button isBusy={change.isPending} onClick={() => change.mutate({ slug, settings: { paused: false } })}>
        Resume
      </Button>
      <FormError>{change.error?.message}</FormError>
    </Banner>
  )
}

/** What this server does not do there, for all sheets. */
export function SwitchedOff({ off }: { off: SwitchedOffView | null }) {
  if (!off) return null
  return (
    <div role="alert" className="mb-5 rounded-lg bg-warn-wash px-4 py-3 text-sm text-warn">
      <p>
        <strong className="font-semibold">{off.what}</strong> {off.means}
      </p>
      {off.whatHelps.map((sentence) => (
        <p key={sentence} className="mt-1.5">
          {sentence}
        </p>
      ))}
      <details className="mt-1.5">
        <summary className="cursor-pointer">What was found</summary>
        {off.why.map((reason) => (
          <p key={reason} className="mt-1.5">
            {reason}
          </p>
        ))}
      </details>
    </div>
  )
}

function Banner({ tone, text, children }: { tone: 'warn' | 'bad'; text: string; children?: ReactNode }) {
  return (
    <div
      role="alert"
      className={`mb-5 flex flex-wrap items-center justify-between gap-3 rounded-lg px-4 py-3 text-sm ${tone === 'bad' ? 'bg-bad-wash text-bad' : 'bg-warn-wash text-warn'}`}
    >
      <span className="min-w-0 flex-1 basis-80">{text}</span>
      <span className="flex flex-wrap gap-2">{children}</span>
    </div>
  )
}
