internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelReader
internal import RowStore

/// The exit codes of the program.
enum ExitStatus: Int32 {
    case success = 0
    case differs = 1
    case usage = 2
    case unreadableModel = 3
    case storeError = 4
}

/// The result of a command, as text and as JSON.
struct Report {
    /// The lines of the text, each with a newline at its end.
    var text: String
    var json: JSON
    var status: ExitStatus
    /// A line for each failed part of the work.
    var errors: [String] = []
    /// Runs after the report was printed, until the program is ended. The handler prints further output.
    var follow: (((Report) -> Void) throws -> Void)?

    init(_ lines: [String], _ json: JSON, status: ExitStatus = .success) {
        text = lines.map { $0 + "\n" }.joined()
        self.json = json
        self.status = status
    }
}

/// The output of a command that failed.
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

/// A file that a command writes.
struct OutputFile {
    let path: String

    /// Writes the file completely or not at all, and creates missing folders.
    func write(_ text: String) throws {
        let url = URL(filePath: path)
        let folder = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw OutputError("the folder \(folder.path) cannot be made (\(error.localizedDescription))")
        }
        do {
            try Data(text.utf8).write(to: url, options: .atomic)
        } catch {
            throw OutputError("\(path) cannot be written (\(error.localizedDescription))")
        }
    }
}

/// The error for a file that cannot be written.
struct OutputError: Error {
    var message: String

    init(_ message: String) {
        self.message = message
    }
}

/// A JSON value. The members of an object keep their order, so that equal values have equal strings.
enum JSON {
    case string(String)
    case number(Int)
    /// A number. An infinite number or NaN becomes a string, because JSON has no such numbers.
    case real(Double)
    case flag(Bool)
    case null
    case list([JSON])
    case object([(String, JSON)])

    static func string(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    static func strings(_ texts: [String]) -> JSON { .list(texts.map(JSON.string)) }

    /// The JSON on one line.
    var text: String {
        switch self {
        case .string(let text): JSON.quoted(text)
        case .number(let number): String(number)
        case .real(let number): number.isFinite ? String(number) : JSON.quoted(String(number))
        case .flag(let flag): flag ? "true" : "false"
        case .null: "null"
        case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSON.quoted($0)):\($1.text)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        text.inQuotes { scalar in
            switch scalar {
            case "\u{0}"..<" ", "\u{7F}", "\u{2028}", "\u{2029}": scalar.controlEscape
            default: nil
            }
        }
    }
}
