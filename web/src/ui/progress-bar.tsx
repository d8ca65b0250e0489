/** `share`: from 0 to 1. */
export function ProgressBar({ label, share }: { label: string; share: number }) {
  return (
    <progress
      value={share}
      max={1}
      aria-label={label}
      className="block h-2 w-full appearance-none overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-transparent [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent"
    />
  )
}
