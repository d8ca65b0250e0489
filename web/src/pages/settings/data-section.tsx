import { linkTo } from '../../api.ts'
import { Section } from '../../ui/section.tsx'

export function DataSection() {
  return (
    <Section title="Your data" about="Download all your Rowport data in one file.">
      <p className="mb-4 text-sm text-soft">
        Sheets with the history of their rows, settings, keys (without their values) and usage, as JSON. One
        download at a time: if another one is running, this one fails after a few seconds.
      </p>
      <a
        href={linkTo('GET /export', {})}
        download
        className="inline-flex h-9 items-center rounded-md border border-line-strong bg-raised px-3.5 text-sm font-medium hover:bg-sunken"
      >
        Export everything
      </a>
    </Section>
  )
}
