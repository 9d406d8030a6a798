internal import ManagedModel
internal import CommandLineWords
internal import Foundation
internal import ModelReader
internal import RowStore

/// Why a command failed.
struct Failure {
    var status: ExitStatus
    var text: String
    var json: JSON

    init(_ error: any Error) {
        switch error {
        case let error as UsageError:
            status = .usage
            text = "model-reset: error: \(error.message)\nTry model-reset --help."
            json = Failure.json(code: "usage", message: error.message)
        case let error as OutputError:
            status = .usage
            text = "model-reset: error: \(error.message)"
            json = Failure.json(code: "file", message: error.message)
        case let error as ModelReaderError:
            status = .unreadableModel
            text = "\(error)"
            json = Failure.json(
                code: error.code.description, message: error.message, file: error.file, line: error.line)
        case let error as LockFileError:
            status = .unreadableModel
            text = "\(error)"
            json = Failure.json(code: error.code, message: error.message, file: error.file, line: error.line)
        case let error as DataSourceError:
            status = error.code == .unreadableModel ? .unreadableModel : .storeError
            text = "model-reset: error: \(error)"
            json = Failure.json(code: error.code.rawValue, message: error.message, cause: error.cause)
        default:
            status = .usage
            text = "model-reset: error: \(error.localizedDescription)"
            json = Failure.json(code: "file", message: error.localizedDescription)
        }
    }

    private static func json(
        code: String, message: String, file: String? = nil, line: Int? = nil, cause: String? = nil
    ) -> JSON {
        var members: [(String, JSON)] = [("code", .string(code)), ("message", .string(message))]
        if let file { members.append(("file", .string(file))) }
        if let line { members.append(("line", .number(line))) }
        if let cause { members.append(("cause", .string(cause))) }
        return .object([("error", .object(members))])
    }
}
