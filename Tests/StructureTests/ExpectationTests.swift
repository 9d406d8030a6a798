import Testing

/// Errors are expected with functions. Swift 6.3.1 can give the closure of an expectation macro and the next closure of the same
/// function one symbol. Then the second closure runs the code of the first closure, and the test tests nothing.
struct ExpectationTests {
    @Test func noExpectationOfAnErrorIsAMacro() throws {
        let files = try MeasuredFile.all(in: "Tests")
        #expect(files.count > 300)
        // The name is in two parts, so that this file does not contain it.
        let macros = ["expect", "require"].map { "#\($0)" + "(throws" }
        for file in files {
            for (index, line) in file.lines.enumerated() where macros.contains(where: line.contains) {
                Issue.record("\(file.path):\(index + 1): Use expectThrows, requireThrows or expectError.")
            }
        }
    }
}
