/**
 * `verifyClaims({ … })` with the service and the tenant in it: neither is a secret, and an
 * application that has been edited starts with nothing set, whenever it reads its `.env`. The
 * environment goes first, for whoever has a tenant for tests.
 */
import {
  javascriptSettings,
  type KnownService,
} from '../../../../shared/integration/snippets/defaults.ts'
import type { Style } from './style.ts'

export function guardCall(
  style: Pick<Style, 'quote' | 'space'>,
  guard: string,
  service: KnownService,
): string {
  const settings = javascriptSettings(style.quote, service)
  if (settings.length === 0) return `${guard}()`
  return `${guard}({${style.space}${settings.join(', ')}${style.space}})`
}

/** With a name, on lines of their own. */
export function serviceLines(
  style: Style,
  { guard, service: name }: { readonly guard: string; readonly service: string },
  service: KnownService,
): string[] {
  const { constant, semicolon, step } = style
  const settings = javascriptSettings(style.quote, service)
  const begin = `${constant} ${name} = ${guard}(`
  if (settings.length === 0) return [`${begin})${semicolon}`]
  return [`${begin}{`, ...settings.map((line) => `${step}${line},`), `})${semicolon}`]
}
