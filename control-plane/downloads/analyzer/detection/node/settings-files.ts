/** Files of settings: what a program that is told nothing else reads them for. */
import { parseSource, type Source } from '../../syntax/parse.ts'
import { isTable, parsedYaml } from '../manifests/tables.ts'

const CHARACTERS_MAX = 64 * 1024

export function isSettings(path: string): boolean {
  return /\.(?:json5?|ya?ml)(?:\.(?:default|example|sample|template|dist))?$/.test(path)
}

/** As a module that gives all of it away; null: too large, or nothing of the kind. */
export function settingsSource(path: string, text: string): Source | null {
  if (text.length > CHARACTERS_MAX) return null
  const isYaml = /\.ya?ml/.test(path)
  const whole = isYaml ? parsedYaml(text) : null
  if (isYaml && !isTable(whole)) return null
  const parsed = parseSource(path, `module.exports = ${isYaml ? JSON.stringify(whole) : text}`)
  return 'source' in parsed ? parsed.source : null
}
