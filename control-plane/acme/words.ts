/** Why there is no certificate yet, and what to change: for the console and the API. */
import type { AcmeProblem } from './problem.ts'

const SENTENCES: Readonly<Record<string, (hostname: string) => string>> = {
  dns: (hostname) =>
    `The certificate authority cannot resolve ${hostname}. Check its A and AAAA records.`,
  connection: (hostname) =>
    `The certificate authority cannot reach http://${hostname}/ on port 80. Open port 80 for everyone, at each of its A and AAAA records.`,
  unauthorized: (hostname) =>
    `The certificate authority got a different answer at http://${hostname}/. Point all A and AAAA records of ${hostname} to the gateways.`,
  caa: (hostname) =>
    `A CAA record does not allow this certificate authority to issue for ${hostname}. Add it to the record, or remove the record.`,
  rejectedIdentifier: (hostname) =>
    `The certificate authority does not issue certificates for ${hostname}. Upload one instead.`,
  externalAccountRequired: () =>
    'The certificate authority requires an external account. Set SERVICE_ACME_EAB.',
  userActionRequired: () =>
    'The certificate authority has new terms of service. Accept them there, then wait for the next attempt.',
  rateLimited: () =>
    'The certificate authority has reached a rate limit. Nothing to change: it is tried again.',
}

/** Where the proof was to be found in DNS. */
const SENTENCES_OF_DNS: typeof SENTENCES = {
  dns: (hostname) =>
    `The certificate authority cannot look up the proof of ${hostname}. Check its CNAME record _acme-challenge, and the name servers of its domain.`,
  unauthorized: (hostname) =>
    `The certificate authority found another proof of ${hostname}. Its record _acme-challenge has to be this one CNAME, and no TXT record beside it.`,
}

export function sentenceOf(
  hostname: string,
  { type, message }: AcmeProblem,
  isByDns = false,
): string {
  const words = isByDns ? { ...SENTENCES, ...SENTENCES_OF_DNS } : SENTENCES
  const known = Object.hasOwn(words, type) ? words[type]?.(hostname) : undefined
  const sentence = known ?? 'The certificate authority refused this certificate.'
  return message === '' ? sentence : `${sentence} It says: ${message}`
}
