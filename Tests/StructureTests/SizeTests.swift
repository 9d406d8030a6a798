import Foundation
import TestSupport
import Testing

/// Files and functions of Sources are short enough to be read at once.
struct SizeTests {
    private static let files = Result { try MeasuredFile.all() }

    @Test func everyFileHasAtMost400Lines() throws {
        let files = try Self.files.get()
        try #require(files.count > 300)
        for file in files where file.lines.count > 400 {
            Issue.record("\(file.path) has \(file.lines.count) lines")
        }
    }

    /// A file is an idea with its private state: most have more than a screen, and few are scraps.
    @Test func filesAreIdeas() throws {
        let counts = try Self.files.get().map(\.lines.count).sorted()
        #expect(counts[counts.count / 2] >= 100)
        #expect(counts.count { $0 < 40 } * 10 <= counts.count)
    }

    @Test func everyFunctionHasLessThan45Lines() throws {
        let functions = try Self.files.get().map { ($0, $0.functions) }
        try #require(functions.map(\.1.count).reduce(0, +) > 1500)
        for (file, functions) in functions {
            for function in functions where function.lineCount >= 45 && !function.isMemberwise {
                Issue.record("\(file.path):\(function.line): \(function.lineCount) lines: \(function.signature)")
            }
        }
    }

    @Test func functionsAreMeasuredFromTheirFirstLineToTheirLast() {
        let file = MeasuredFile(
            path: "A.swift",
            text: """
                struct A {
                    let b: Int
                    init(
                        b: Int
                    ) {
                        self.b = b
                    }

                    @inlinable public static func c(
                        _ text: String
                    ) {
                        print(\"""
                    }
                            \""")
                        func d() {
                            print("func e() {")
                        }
                    }
                    var f: Int { 1 }
                    var g: Int {
                        b
                    }
                }
                protocol H {
                    func i()
                    func j()
                }
                """)
        #expect(file.functions.map(\.line) == [3, 9, 15, 19, 20])
        #expect(file.functions.map(\.lineCount) == [5, 10, 3, 1, 3])
        #expect(file.functions.map(\.isMemberwise) == [true, false, false, false, false])
    }
}

/// A formatted Swift file. A declaration ends at the first line that begins with a brace at its own indentation.
struct MeasuredFile {
    struct Function {
        /// The first line has number 1.
        let line: Int
        let signature: Substring
        let lineCount: Int
        /// Whether the body only gives properties the values of the arguments with their names.
        let isMemberwise: Bool
    }

    /// Below `Sources`.
    let path: String
    /// Without the content of strings that have several lines.
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        var isInString = false
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            defer {
                if line.split(separator: "\"\"\"", omittingEmptySubsequences: false).count == 2 { isInString.toggle() }
            }
            return isInString ? "" : line
        }
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
    }

    var functions: [Function] { lines.indices.compactMap(function) }

    private func function(at start: Int) -> Function? {
        let line = lines[start]
        guard ["func ", "init", "subscript", "var "].contains(where: line.contains) else { return nil }
        let declaration = /(\s*)(?:@\w+(?:\([^)]*\))? |[a-z]+(?:\([a-z]+\))? )*(?:func |init[?(<]|subscript[(<]|var )/
        guard let match = line.prefixMatch(of: declaration),
            let end = line.hasSuffix("}") ? start : end(of: start, match.output.1)
        else { return nil }
        let body = lines[start...end].drop { !$0.hasSuffix("{") }.dropFirst().dropLast()
        let isMemberwise = body.allSatisfy { line in
            guard let match = line.wholeMatch(of: /\s*self\.(\w+) = (\w+)/) else { return false }
            return match.output.1 == match.output.2
        }
        return Function(
            line: start + 1, signature: line.drop { $0 == " " }, lineCount: end - start + 1,
            isMemberwise: isMemberwise && !body.isEmpty)
    }

    /// The last line of a declaration, or nil if it has no body.
    private func end(of start: Int, _ indentation: Substring) -> Int? {
        for index in lines.indices.dropFirst(start + 1) {
            let line = lines[index]
            if line.isEmpty || line.hasPrefix(indentation + " ") { continue }
            guard line.hasPrefix(indentation) else { return nil }
            let rest = line.dropFirst(indentation.count)
            if rest.hasPrefix("}") { return index }
            // The end of the parameters, or what follows them.
            guard [")", "where ", "{"].contains(where: rest.hasPrefix) else { return nil }
            if rest.hasSuffix("}") { return index }
        }
        return nil
    }

    static func all(in folder: String = "Sources") throws -> [MeasuredFile] {
        let folder = PackageFiles.root.appending(path: folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.map { path in
            MeasuredFile(path: path, text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }
}
