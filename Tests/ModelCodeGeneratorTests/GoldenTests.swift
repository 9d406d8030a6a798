import Foundation
import TestSupport
import Testing

/// The tool's output for whole models. With `RECORD_GOLDEN=1` in the environment the expected files are written again;
/// read the difference before committing it.
@Suite struct GoldenTests {
    @Test(arguments: GoldenCase.all)
    func theToolWritesWhatIsExpected(_ golden: GoldenCase) async throws {
        let directory = try TemporaryDirectory()
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool(golden.arguments + ["--output", output.path])
        #expect(run.status == 0)
        #expect(run.errors.replacing(PackageFiles.root.path + "/", with: "") == (try golden.warnings))
        let written = try String(contentsOf: output, encoding: .utf8)
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try written.write(to: golden.expected, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: golden.expected, encoding: .utf8)
        #expect(firstDifference(written, expected) == nil)
    }

    /// The first line that differs, which says more than that two files differ.
    private func firstDifference(_ written: String, _ expected: String) -> String? {
        if written == expected { return nil }
        let lines = [written, expected].map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
        let count = zip(lines[0], lines[1]).prefix { $0 == $1 }.count
        let texts = lines.map { count < $0.count ? String($0[count]) : "the end" }
        return "line \(count + 1) is '\(texts[0])', expected '\(texts[1])'"
    }
}
