/** What the protocols answer by themselves: a head that is no head, an application that is not there. */
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import type { OwnAnswer } from '../wire/exchange.ts'
import { plainAnswer } from '../wire/answer.ts'
import type { Http1ServerOptions } from '../http1/world.ts'
import { badRequest } from '../../shared/sign-in/bad-request.ts'
import { languageOf } from '../../shared/sign-in/language.ts'
import { PAGE_HEADER_LINES, pageHtml } from '../../shared/sign-in/pages.ts'
import { inEveryLanguage } from '../../shared/sign-in/texts/languages.ts'
import {
  UPSTREAM_FAILURE_CODES,
  type UpstreamFailure,
  type UpstreamFailureCode,
} from '../wire/upstream-call.ts'
import { valuesOf } from '../wire/websocket-request.ts'

type ProtocolAnswers = Required<Pick<Http1ServerOptions, 'refusalAnswer' | 'failureAnswer'>>

/** Whoever asks may be anybody, so it says nothing about a session. */
const FAILURE_PAGES = inEveryLanguage(({ upstreamFailed, connectorAbsent, tryAgain }, language) => {
  const action = { href: '', label: tryAgain } // this very address
  const pages = UPSTREAM_FAILURE_CODES.map((code) => [
    code,
    pageHtml({
      ...(code === 'connector_absent' ? connectorAbsent : upstreamFailed),
      language,
      code,
      action,
    }),
  ])
  return Object.fromEntries(pages) as Record<UpstreamFailureCode, string>
})

/** A connector that has lost its way comes back by itself, most often within seconds. */
const ABSENT_LINES = ['Retry-After: 5']

/** The log has the clause as it is; a program's people read a sentence. */
const inSentence = ({ detail, ...failure }: UpstreamFailure) => ({
  ...failure,
  detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
})

export function createProtocolAnswers(nextRequestId: () => string): ProtocolAnswers {
  return {
    refusalAnswer: (refusal, asker) =>
      badRequest(refusal, asker, [`X-Request-Id: ${nextRequestId()}`]),
    failureAnswer(failure, exchange): OwnAnswer {
      // What was to be forwarded has its lines, the id of the request among them.
      const lines = failure.code === 'connector_absent' ? ABSENT_LINES : []
      if (!isNavigation(exchange.head)) return plainAnswer(inSentence(failure), lines)
      const language = languageOf(valuesOf(exchange.head.keptLines, 'accept-language').join())
      const body = FAILURE_PAGES[language][failure.code]
      return { status: failure.status, headerLines: [...PAGE_HEADER_LINES, ...lines], body }
    },
  }
}
