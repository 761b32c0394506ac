import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ServiceImpl } from '@connectrpc/connect';
import type {
  ServerReflection,
  ServerReflectionRequest,
} from '../../wire/generated/grpc/reflection/v1/reflection_pb.ts';

/** Returns the calls by which tools ask for the schema: `grpcurl list`, for one. */
export function reflectionService(services: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const files = filesOf(services.map(({ file }) => file));
  const named = new Map(files.map((file) => [`${file.name}.proto`, file]));
  const holding = new Map(files.flatMap((file) => symbolsIn(file).map((symbol) => [symbol, file])));
  const answerTo = ({ messageRequest }: ServerReflectionRequest) => {
    switch (messageRequest.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse' as const,
          value: { service: services.map(({ typeName }) => ({ name: typeName })) },
        };
      case 'fileByFilename':
        return fileAnswer(named.get(messageRequest.value));
      case 'fileContainingSymbol':
        return fileAnswer(holding.get(messageRequest.value));
      default:
        return failed(Code.NotFound, 'The schema has no extensions');
    }
  };
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests)
        yield { validHost: request.host, originalRequest: request, messageResponse: answerTo(request) };
    },
  };
}

/** Returns files and everything that they import, each once. */
function filesOf(roots: readonly DescFile[]): readonly DescFile[] {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const each of file.dependencies) add(each);
  };
  for (const file of roots) add(file);
  return [...files];
}

function symbolsIn({ messages, enums, services }: DescFile): string[] {
  const calls = services.flatMap(({ methods, typeName }) => methods.map(({ name }) => `${typeName}.${name}`));
  return [...[...messages, ...enums, ...services].map(({ typeName }) => typeName), ...calls];
}

/** A tool needs a file with everything it imports, so all of it goes into one answer. */
function fileAnswer(file: DescFile | undefined) {
  if (file === undefined) return failed(Code.NotFound, 'The schema has no such name');
  const fileDescriptorProto = filesOf([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse' as const, value: { fileDescriptorProto } };
}

function failed(errorCode: Code, errorMessage: string) {
  return { case: 'errorResponse' as const, value: { errorCode, errorMessage } };
}
