import Foundation
import TestSupport
import Testing

/// The program in a terminal, and its recording.
struct ProgramTests {
    private static let image = PackageFiles.root.appending(
        path: "Sources/CoreDataSource/CoreDataSource.docc/Resources/mail.svg")

    private func program(_ name: String) -> String { PackageFiles.products.appending(component: name).path }

    @Test func everySceneEndsWithWhatTheStoreHas() async throws {
        let run = try await Subprocess(program("mail"), [])
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(!run.output.contains("\u{1B}"), "there are no colours in a file")
        let lines = run.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 98 })
        let titles = lines.filter { $0.wholeMatch(of: /\ \d\. \w+/) != nil }
        #expect(titles.count == 9)
        for sentence in [
            "3 new, 5 changed, 20 gone", "The phone and the note were merged.", "Boathouse flooded",
            "5,000 messages", "100 %",
        ] { #expect(run.output.contains(sentence), "\(sentence)") }
        // The deleted account is in the sidebar of all scenes but the last.
        #expect(lines.filter { $0.hasPrefix("│ Work") }.count == 8)
    }

    @Test func theImageIsTheRecordingOfTheProgram() async throws {
        let drawing = try await Subprocess(
            "sh",
            [
                "-c", "\"$0\" --record | \"$1\" 'The sample app mail in a terminal'", program("mail"),
                program("terminal-drawing"),
            ])
        #expect(drawing.status == 0 && drawing.errors == "")
        #expect(
            try drawing.output == String(contentsOf: Self.image, encoding: .utf8),
            "The image is not what the program shows. Run Scripts/record-example.")
        #expect(drawing.output.utf8.count < 150_000)
    }

    #if os(Linux)
    /// The output of the program in a terminal of 98 columns.
    private func terminal(noColor: String) async throws -> String {
        let call = "stty cols 98 rows 40; NO_COLOR=\(noColor) '\(program("mail"))' --fast"
        let run = try await Subprocess("script", ["-qec", call, "/dev/null"])
        #expect(run.status == 0)
        return String(String.UnicodeScalarView(run.output.unicodeScalars.filter { $0 != "\r" }))
    }

    /// The lines that are left when pictures have replaced each other, without colours.
    private func remaining(_ output: String) -> [String] {
        var lines: [String] = []
        for line in output.replacing("\u{1B}[K", with: "").split(separator: "\n", omittingEmptySubsequences: false) {
            var line = line
            if let up = line.prefixMatch(of: /\x1B\[(\d+)A/) {
                lines.removeLast(Int(up.output.1) ?? 0)
                line = line[up.range.upperBound...]
            }
            lines.append(String(line.replacing(/\x1B\[[\d;]*m/, with: "")))
        }
        return lines.map { $0.replacing(/\s+$/, with: "") }.filter { !$0.isEmpty }
    }

    @Test(.enabled(if: Subprocess.isInPath("script") && Subprocess.isInPath("stty")))
    func inATerminalTheWindowIsPaintedInPlace() async throws {
        let file = try await Subprocess(program("mail"), [])
        let output = try await terminal(noColor: "")
        #expect(output.contains("\u{1B}[1;34m"))
        #expect(output.matches(of: /\x1B\[\d+A/).count > 20)
        #expect(remaining(output) == remaining(file.output))
        let plain = try await terminal(noColor: "1")
        #expect(!plain.contains("\u{1B}[1;34m") && remaining(plain) == remaining(output))
    }
    #endif

    @Test func anUnknownArgumentIsRefused() async throws {
        let run = try await Subprocess(program("mail"), ["--slow"])
        #expect(run.status == 2 && run.output.hasPrefix("Usage: mail"))
    }

    @Test func textOfARecordingIsEscapedInTheImage() async throws {
        let directory = try TemporaryDirectory()
        let recording = directory.url.appending(component: "recording")
        try Data("\u{1B}[32ma <b> & c\u{1B}[0m\n\u{0C}10\n".utf8).write(to: recording)
        let drawing = try await Subprocess(
            "sh", ["-c", "\"$0\" 'A & B' <\"$1\"", program("terminal-drawing"), recording.path])
        #expect(drawing.output.contains(">a &lt;b> &amp; c</text>"))
        #expect(drawing.output.contains("<title>A &amp; B</title>"))
    }
}
