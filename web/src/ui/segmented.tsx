export interface ChoiceOfFew<Value extends string> {
  label: string
  value: Value
  choices: readonly { value: Value; title: string }[]
  onChange(value: Value): void
}

/** A few short choices side by side, one of them pressed. */
export function Segmented<Value extends string>({ label, value, choices, onChange }: ChoiceOfFew<Value>) {
  return (
    <fieldset className="inline-flex max-w-full flex-wrap rounded-lg border border-line-strong bg-raised p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className="rounded-md px-2 py-1 text-sm whitespace-nowrap sm:px-3 text-soft hover:text-ink aria-pressed:bg-accent-wash aria-pressed:font-medium aria-pressed:text-accent"
        >
          {choice.title}
        </button>
      ))}
    </fieldset>
  )
}
