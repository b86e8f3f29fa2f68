/** What is said where the application does not answer: a sentence for programs. */
import t from 'tap'
import { createProtocolAnswers } from '../../../gateway/listen/protocol-answers.ts'
import { failure, UPSTREAM_FAILURE_CODES } from '../../../gateway/wire/upstream-call.ts'

type Exchange = Parameters<ReturnType<typeof createProtocolAnswers>['failureAnswer']>[1]

t.test('a program reads a sentence, with the code that the log has', (t) => {
  const { failureAnswer } = createProtocolAnswers(() => 'r1')
  const exchange = {
    head: { isUpgrade: false, secFetchMode: '', method: 'GET', requestedWith: '', accept: '*/*' },
  } as unknown as Exchange
  for (const code of UPSTREAM_FAILURE_CODES) {
    const { body } = failureAnswer(failure(code, 'the application refuses connections'), exchange)
    t.same(JSON.parse(String(body)), {
      error: code,
      detail: 'The application refuses connections.',
    })
  }
  t.end()
})
