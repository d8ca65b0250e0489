import { useState } from 'react'

type Theme = 'light' | 'dark' | 'system'
const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const names: Record<Theme, string> = { system: 'Auto', light: 'Light', dark: 'Dark' }

function storedTheme(): Theme {
  const stored = localStorage.getItem('rowport-theme')
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme)
  function change() {
    const chosen = next[theme]
    if (chosen === 'system') {
      localStorage.removeItem('rowport-theme')
      delete document.documentElement.dataset.theme
    } else {
      localStorage.setItem('rowport-theme', chosen)
      document.documentElement.dataset.theme = chosen
    }
    setTheme(chosen)
  }
  return (
    <button
      type="button"
      onClick={change}
      aria-label={`Theme: ${names[theme]}. Change theme`}
      className="rounded-md border border-line-strong px-2 py-0.5 text-xs text-soft hover:text-ink"
    >
      Theme: {names[theme]}
    </button>
  )
}
