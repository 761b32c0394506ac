import { Code, type ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../wire/generated/grpc/health/v1/health_pb.ts';
import { connectError } from '../http/call-failure.ts';

/** The path of the call that everyone may make: a prober has no token. */
export const healthPath = '/grpc.health.v1.Health/Check';

/** Returns the health calls of gRPC: a server serves until it drains. */
export function healthService(services: readonly string[], draining: AbortSignal): ServiceImpl<typeof Health> {
  const known = new Set(['', ...services]);
  const status = (): Status => (draining.aborted ? Status.NOT_SERVING : Status.SERVING);
  return {
    check: ({ service }) => {
      if (known.has(service)) return { status: status() };
      const error = new RepriseError('option.invalid', 'Cannot tell the health: the server has no such service', {
        hint: 'Leave the service out to ask about the server.',
        details: { path: 'service' },
      });
      throw connectError(error, Code.NotFound);
    },
    async *watch({ service }, { signal }) {
      if (!known.has(service)) {
        yield { status: Status.SERVICE_UNKNOWN };
        return;
      }
      yield { status: status() };
      const end = AbortSignal.any([signal, draining]);
      if (!end.aborted) await new Promise((resolve) => end.addEventListener('abort', resolve, { once: true }));
      if (!signal.aborted) yield { status: status() };
    },
  };
}
