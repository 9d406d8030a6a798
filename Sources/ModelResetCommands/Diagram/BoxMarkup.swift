internal import ManagedModel

/// The markup of one box.
struct BoxMarkup {
    private let box: EntityBox
    private let frame: Drawing.Frame

    init(_ box: EntityBox, _ frame: Drawing.Frame) {
        self.box = box
        self.frame = frame
    }

    var text: String {
        let dark = Palette.dark(box.color)
        let rectangle = "width=\"\(frame.width.short)\" height=\"\(frame.height.short)\" rx=\"6\""
        var text = "<g transform=\"translate(\(frame.x.short) \(frame.y.short))\">\n"
        text += "<rect \(rectangle) fill=\"\(dark)\"/>\n"
        // The body covers all but the name and leaves the frame.
        text += """
            <path d="M1 \(EntityBox.headerHeight.short)H\((frame.width - 1).short)V\((frame.height - 6).short)\
            q0 5 -5 5H6q-5 0 -5 -5Z" fill="\(Palette.light(box.color))"/>

            """
        text += header
        for (index, row) in box.attributes.enumerated() {
            text += markup(of: row, at: box.offset(ofAttribute: index), color: "#1f2933")
        }
        for (index, row) in box.relationships.enumerated() {
            text += markup(of: row, at: box.offset(ofRelationship: index), color: dark)
        }
        if !box.attributes.isEmpty, !box.relationships.isEmpty {
            let y = box.offset(ofRelationship: 0) - EntityBox.rowHeight / 2 - EntityBox.dividerHeight / 2
            text +=
                "<path d=\"M1 \(y.short)H\((frame.width - 1).short)\" stroke=\"\(dark)\" stroke-opacity=\"0.35\"/>\n"
        }
        return text + "</g>\n"
    }

    private var header: String {
        let style = box.entity.isAbstract ? " font-style=\"italic\"" : ""
        var text = """
            <text x="\(EntityBox.padding.short)" y="20" font-size="\(EntityBox.titleSize.short)" font-weight="bold"\
            \(style) fill="#ffffff">\(box.entity.name.escaped)</text>

            """
        if let subtitle = box.subtitle {
            text += """
                <text x="\((frame.width - EntityBox.padding).short)" y="19" font-size="10" text-anchor="end" \
                fill="#ffffff" fill-opacity="0.85">\(subtitle)</text>

                """
        }
        return text
    }

    private func markup(of row: EntityBox.Row, at middle: Double, color: String) -> String {
        let y = (middle + 4).short
        let style = (row.isUnique ? " font-weight=\"bold\"" : "") + (row.isFaint ? " font-style=\"italic\"" : "")
        return """
            <text x="\(EntityBox.padding.short)" y="\(y)"\(style) fill="\(color)">\(row.name.escaped)</text>
            <text x="\((frame.width - EntityBox.padding).short)" y="\(y)" text-anchor="end" fill="#7b8794">\
            \(row.detail.escaped)</text>

            """
    }
}
