/**
 * `verifyClaims({ … })` with the service and the tenant in it: neither is a secret, and an
 * application that has been edited starts with nothing set, whenever it reads its `.env`. The
 * environment goes first, for whoever has a tenant for tests.
 */
import type { Style } from './style.ts'
import type { Wishes } from './wishes.ts'

export type ServiceAddress = Pick<Wishes, 'baseUrl' | 'tenantId'>

export function guardCall(
  style: Pick<Style, 'quote' | 'space'>,
  guard: string,
  service: ServiceAddress,
): string {
  const settings = settingsOf(style, service)
  if (settings.length === 0) return `${guard}()`
  return `${guard}({${style.space}${settings.join(', ')}${style.space}})`
}

/** With a name, on lines of their own. */
export function serviceLines(
  style: Style,
  { guard, service: name }: { readonly guard: string; readonly service: string },
  service: ServiceAddress,
): string[] {
  const { constant, semicolon, step } = style
  const settings = settingsOf(style, service)
  const begin = `${constant} ${name} = ${guard}(`
  if (settings.length === 0) return [`${begin})${semicolon}`]
  return [`${begin}{`, ...settings.map((line) => `${step}${line},`), `})${semicolon}`]
}

function settingsOf(
  { quote }: Pick<Style, 'quote'>,
  { baseUrl, tenantId }: ServiceAddress,
): string[] {
  if (!tenantId) return []
  const text = (value: string) =>
    quote + value.replace(/['"\\]/g, (one) => `%${one.charCodeAt(0).toString(16)}`) + quote
  return [
    `baseUrl: process.env.SERVICE_BASE_URL ?? ${text(baseUrl)}`,
    `tenantId: process.env.SERVICE_TENANT_ID ?? ${text(tenantId)}`,
  ]
}
