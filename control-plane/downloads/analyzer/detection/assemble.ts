/** One application out of what was found of it, piece by piece. */
import type { Application, Confidence, Finding, FrameworkName, Place } from './application.ts'

export interface Clue<T> extends Omit<Finding, 'about' | 'value'> {
  readonly value: T
}

export function clue<T>(
  value: T,
  at: Place | null,
  confidence: Confidence,
  detail: string,
): Clue<T> {
  return { value, at, confidence, detail }
}

export function finding(
  about: Finding['about'],
  value: string | number,
  at: Place | null,
  confidence: Confidence,
  detail: string,
): Finding {
  return { about, value: String(value), at, confidence, detail }
}

const ORDER: readonly Confidence[] = ['guess', 'likely', 'sure']

/** As sure as the least sure of them. */
export function weakest(...confidences: readonly Confidence[]): Confidence {
  return ORDER[Math.min(...confidences.map((one) => ORDER.indexOf(one)))] ?? 'guess'
}

/** Of several findings about the same the first is believed. */
export function assemble(
  own: Pick<
    Application,
    'folder' | 'variant' | 'modules' | 'integrated' | 'confidence' | 'entry' | 'mount'
  >,
  found: readonly (Finding | null)[],
): Application {
  const findings = found.filter((one) => one !== null)
  const first = (about: Finding['about']) =>
    findings.find((one) => one.about === about)?.value ?? null
  const port = first('port')
  const signIn = findings.filter(({ about }) => about === 'sign_in')
  return {
    ...own,
    framework: first('framework') as FrameworkName,
    language: first('language') ?? '',
    packageManager: first('package_manager'),
    healthPath: first('health'),
    port: port === null ? null : Number(port),
    signIn: [...new Set(signIn.map(({ value }) => value))].sort(),
    findings,
  }
}
